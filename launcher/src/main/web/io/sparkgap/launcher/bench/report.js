'use strict';

// Draws what the data element holds: a report of `sparkgap bench`, and its series with what was best at each size.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const LOSES = 0.05; // worth a mark
  const ROUTE_COLORS = 7;
  const CHART_HEIGHT = 320;
  const byId = id => document.getElementById(id);
  const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const bytesText = bytes => {
    const units = ['B', 'KiB', 'MiB', 'GiB'];
    let unit = 0;
    while (bytes >= 1024 && unit < units.length - 1) { bytes /= 1024; unit++; }
    return `${+bytes.toFixed(1)} ${units[unit]}`;
  };
  const number = value => value == null ? '' : value < 10 ? value.toFixed(2) : value < 1000 ? value.toFixed(1) : value.toFixed(0);
  const percent = part => part > 0 ? `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %` : 'nothing';

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  // What one line of a chart shows: the selector's choice, a route, or somebody else's.
  const lineOf = row => row.by === 'java' ? (row.auto ? 'chosen' : row.route)
      : row.auto ? row.by : `${row.by} ${row.route}`;

  function linesOf(series) {
    const names = new Set();
    for (const point of series.points) for (const row of point.rows) names.add(lineOf(row));
    const routes = [...names].filter(name => name.includes('/') && !name.includes(' '));
    const others = [...names].filter(name => name !== 'chosen' && !routes.includes(name));
    // The choice last, so that it lies on top.
    return [
      ...routes.map((name, i) => ({name, color: `--route-${i % ROUTE_COLORS}`, width: 2})),
      ...others.map((name, i) => ({name, color: '--peer', width: 2, dash: [[6, 4], [2, 3], [10, 3, 2, 3]][i % 3]})),
      ...(names.has('chosen') ? [{name: 'chosen', color: '--chosen', width: 1.5, dash: [3, 3], points: true}] : []),
    ];
  }

  function values(series, line, field) {
    return series.points.map(point => point.rows.find(row => lineOf(row) === line.name)?.[field] ?? null);
  }

  let charts = [];

  function draw(series) {
    charts.forEach(chart => chart.destroy());
    charts = [];
    const lines = linesOf(series);
    const drawn = series.points.length > 1;
    document.querySelector('.charts').hidden = !drawn;
    document.querySelector('.charts').style.display = drawn ? '' : 'none';
    if (!drawn) return;
    for (const [id, field, logarithmic] of [['latency', 'us', true], ['bandwidth', 'busbw', false]]) {
      const place = byId(id);
      place.textContent = '';
      const axis = {stroke: color('--faint'), grid: {stroke: color('--line'), width: 1}, ticks: {stroke: color('--line')}};
      const options = {
        width: place.clientWidth,
        height: CHART_HEIGHT,
        scales: {
          x: {time: false, distr: 3, log: 2},
          y: logarithmic ? {distr: 3, log: 10} : {range: (chart, least, most) => [0, most * 1.05 || 1]},
        },
        axes: [
          {...axis, space: 60, values: (chart, ticks) => ticks.map(tick => tick == null ? null : bytesText(tick))},
          {...axis, size: 60, values: (chart, ticks) => ticks.map(tick => tick == null ? null : String(+tick.toPrecision(3)))},
        ],
        series: [
          {label: 'bytes', value: (chart, value) => value == null ? '' : bytesText(value)},
          ...lines.map(line => ({
            label: line.name,
            stroke: color(line.color),
            width: line.width,
            dash: line.dash,
            spanGaps: true,
            points: {show: true, size: line.points ? 7 : 4, fill: color('--background')},
            value: (chart, value) => number(value),
          })),
        ],
      };
      const columns = [series.points.map(point => point.bytes), ...lines.map(line => values(series, line, field))];
      charts.push(new uPlot(options, columns, place));
    }
  }

  function tableOf(series) {
    const others = linesOf(series).map(line => line.name).filter(name => name !== 'chosen' && !name.startsWith(providerOf(series)));
    const head = element('tr');
    for (const [text, isNumber] of [['bytes', true], ['chosen', false], ['us', true], ['best', false], ['us', true],
        ['loses', true], ...others.map(name => [`${name}, us`, true])]) {
      head.append(element('th', text, isNumber ? 'number' : ''));
    }
    byId('sizes').tHead.replaceChildren(head);
    byId('sizes').tBodies[0].replaceChildren(...series.points.map(point => {
      const row = element('tr', undefined, point.loss > LOSES ? 'loses' : '');
      const chosen = point.rows.find(one => lineOf(one) === 'chosen');
      row.append(
          element('td', bytesText(point.bytes), 'number'),
          element('td', chosen ? chosen.route : ''),
          element('td', number(chosen?.us), 'number'),
          element('td', point.best ?? ''),
          element('td', number(point.bestUs), 'number'),
          element('td', point.best && chosen ? percent(point.loss) : '', 'number'),
          ...others.map(name => element('td', number(point.rows.find(one => lineOf(one) === name)?.us), 'number')));
      return row;
    }));
    byId('crossovers').textContent = series.crossovers ? `Best: ${series.crossovers}.` : '';
  }

  const providerOf = series => {
    const mine = series.points.flatMap(point => point.rows).find(row => row.by === 'java');
    return mine ? mine.route.split('/')[0] + '/' : '\0';
  };

  function show(index) {
    byId('series').value = index;
    tableOf(data.series[index]);
    draw(data.series[index]);
  }

  function overview() {
    data.series.forEach((series, index) => {
      byId('series').append(new Option(series.title, index));
      const row = element('tr');
      const worst = series.points.reduce((most, point) => point.loss > most.loss ? point : most, {loss: 0});
      row.append(
          element('td', series.title),
          element('td', series.crossovers || 'one route only'),
          element('td', worst.loss > 0 ? `${percent(worst.loss)} at ${bytesText(worst.bytes)}` : 'nothing', 'number'));
      row.className = worst.loss > LOSES ? 'loses' : '';
      row.addEventListener('click', () => { show(index); byId('series').scrollIntoView({behavior: 'smooth'}); });
      byId('overview').tBodies[0].append(row);
    });
  }

  function about() {
    const world = data.world;
    byId('where').textContent = world
        ? `${world.key.pes} PEs of provider ${world.key.provider} on ${world.hosts.length} host${world.hosts.length > 1 ? 's' : ''}, linked by `
            + `${world.key.links.toLowerCase()}${world.key.device ? `: ${world.key.device}` : ''}${world.key.shared ? ', more PEs than CPUs or GPUs' : ''}`
        : 'without a world';
    const facts = {...data.about, ...(world ? {world: world.description, versions: world.versions.join(', ')} : {})};
    for (const [name, value] of Object.entries(facts)) {
      byId('about').append(element('dt', name), element('dd', value));
    }
    data.leftOut.forEach(why => byId('left-out').append(element('li', `Not measured: ${why}`)));
    byId('incomplete').hidden = data.complete;
    const wrong = data.rows.reduce((sum, row) => sum + Math.max(0, row.wrong), 0);
    byId('wrong').hidden = wrong === 0;
    byId('wrong').textContent = `${wrong} elements were not what they should have been.`;
  }

  about();
  overview();
  if (data.series.length > 0) show(0);
  byId('series').addEventListener('change', event => show(+event.target.value));
  new ResizeObserver(() => charts.forEach(chart => {
    const width = chart.root.parentElement.clientWidth;
    if (width !== chart.width) chart.setSize({width, height: CHART_HEIGHT});
  })).observe(document.querySelector('main'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => draw(data.series[+byId('series').value]));
})();
