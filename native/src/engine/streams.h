// Streams and events: what an engine has besides whose calls are enqueued and done later.
#ifndef SPARKGAP_ENGINE_STREAMS_H
#define SPARKGAP_ENGINE_STREAMS_H

namespace sparkgap {

// A point in a stream.
class Event {
 public:
  virtual ~Event() = default;
};

// As the functions of sparkgap.h that they are behind. Events are of this object's own make_event.
class Streams {
 public:
  virtual void* stream() const = 0;
  // nullptr: back to the world's own.
  virtual void set_stream(void* stream) = 0;
  // The caller deletes it, before the engine goes.
  virtual Event* make_event() = 0;
  virtual void record(Event& event) = 0;
  // The stream waits for the point.
  virtual void enqueue_wait(Event& event) = 0;
  // The host waits for it.
  virtual void wait(Event& event) = 0;
  virtual double elapsed_us(Event& start, Event& end) = 0;

 protected:
  ~Streams() = default;
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_STREAMS_H
