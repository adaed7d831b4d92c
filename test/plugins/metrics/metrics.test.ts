import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createLogger } from '../../../core/log/log.ts'
import { type PluginPackage, listPluginPackages } from '../../../core/loader/packages/packages.ts'
import type { MetricSnapshot } from '../../../core/metrics/metric-snapshot.ts'
import { createMeasures } from '../../../core/supervisor/collect-metrics.ts'
import { startServer } from '../../core/http/server.ts'
import { type TestApp, buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'

const TELLER = fileURLToPath(new URL('../fixtures/teller/', import.meta.url))
const DASHBOARD = new URL('../../../examples/observability/grafana-dashboard.json', import.meta.url)
const SCAN_MS = 100_000

const TELLER_PACKAGE: PluginPackage = {
  folder: TELLER,
  name: 'svc-provider-teller',
  version: '1.0.0',
  manifest: { kind: 'provider', key: 'teller', sdk: '^2' },
  entry: `${TELLER}index.js`,
  origin: 'community',
  problem: null
}

interface Line { msg: string, name: string, reqId?: string, plugin?: string, host?: string, task?: string }

const lines: Line[] = []
const service = await startServer(t, (_request, response) => {
  response.setHeader('content-type', 'application/json').end('{}')
})
// Plugins read their variables only from the environment of the process. JSON is valid YAML.
const dataDir = mkdtempSync(join(tmpdir(), 'svc-metrics-'))
t.teardown(() => { rmSync(dataDir, { recursive: true, force: true }) })
writeFileSync(join(dataDir, 'config.yml'), JSON.stringify({ plugins: { teller: { url: service.url } }, scan: { hash_threads: 1 } }))
const server = await buildTestApp(t, {
  worker: true,
  packages: [TELLER_PACKAGE, ...listPluginPackages('/nowhere').filter(({ name }) => name === '@svc/channel-webhook')],
  library: { roms: { snes: { 'a.sfc': 'a', 'b.sfc': 'b' } } },
  logger: createLogger({ server: { log_level: 'debug' } }, 'svc', { write (line) { lines.push(JSON.parse(line) as Line) } }),
  env: { SVC_DATA_DIR: dataDir, SVC_METRICS: 'true', SVC_METRICS_ALLOW: '203.0.113.7', SVC_TRUSTED_PROXIES: '198.51.100.1' }
})
const { app, worker, admin } = server
const toldAtStart = [...lines]

async function scan ({ app, admin }: TestApp, headers: Record<string, string> = {}): Promise<void> {
  const answer = await app.inject({ method: 'POST', url: '/api/tasks/scan', headers: { ...admin, ...headers } })
  const { task_id: id } = answer.json<{ task_id: string }>()
  await until(async () => {
    const { status } = (await app.inject({ url: `/api/tasks/${id}`, headers: admin })).json<{ status: string }>()
    return !['queued', 'started'].includes(status)
  }, 'the end of the scan', { ms: SCAN_MS })
}

const readMetrics = async () => (await app.inject({ url: '/metrics', headers: admin })).body

/** Finds the value of a metric with these labels, whatever other labels it has. */
function valueOf (text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const line = text.split('\n').find((one) =>
    (one.startsWith(`${name} `) || one.startsWith(`${name}{`)) && wanted.every((pair) => one.includes(pair)))
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1))
}

t.test('a request keeps the id that it brings, and gets one if it brings none', async (t) => {
  const idOf = async (given: string) =>
    (await app.inject({ url: '/api/heartbeat', headers: { 'x-request-id': given } })).headers['x-request-id']
  t.equal(await idOf('Root=1-67891233-abcdef'), 'Root=1-67891233-abcdef')
  for (const wrong of ['', 'a b', 'a"b', '<b>', 'é', 'x'.repeat(129)]) t.match(await idOf(wrong), /^[\da-f-]{36}$/, wrong)
  const refused = await app.inject({ url: '/api/users', headers: { 'x-request-id': 'mine' } })
  t.equal(refused.statusCode, 401)
  t.equal(refused.headers['x-request-id'], 'mine')
  const unreadable = await app.inject({ url: '/api/roms/%ff', headers: { 'x-request-id': 'mine' } })
  t.equal(unreadable.statusCode, 400)
  t.equal(unreadable.headers['x-request-id'], 'mine')
})

t.test('the id of a request is in the log lines of worker and plugin for its scan', async (t) => {
  lines.length = 0
  await scan(server, { 'x-request-id': 'scan-by-hand' })
  const own = lines.filter(({ reqId }) => reqId === 'scan-by-hand')
  const isThere = (what: string, is: (line: Line) => boolean) => { t.ok(own.some(is), what) }
  isThere('the web worker, of what it did for it', ({ msg }) => msg === 'security event')
  isThere('the plugin itself, from its own process', ({ msg, plugin }) => msg === 'asked for a game' && plugin === 'provider/teller')
  isThere('what it asks its service', ({ msg, host }) => msg === 'request answered' && host === service.host)
  t.notOk(lines.some((line) => line.msg === 'asked for a game' && line.reqId !== 'scan-by-hand'), 'of each ROM')
  t.notOk(lines.some((line) => JSON.stringify(line).split('reqId').length > 2), 'no line has two')
})

t.test('the id of a request is in the log lines of its deliveries to channels', async (t) => {
  const channel = { type: 'webhook', name: 'Hook', url: service.url }
  t.equal((await app.inject({ method: 'POST', url: '/api/notification-channels', headers: admin, payload: channel })).statusCode, 201)
  t.teardown(() => app.pg.query('delete from notification_channels'))
  lines.length = 0
  const tell = (id: string) => app.inject({
    method: 'POST', url: '/api/notifications', headers: { ...admin, 'x-request-id': id }, payload: { title: id }
  })
  for (const id of ['told-first', 'told-second']) t.equal((await tell(id)).statusCode, 201)
  const findLine = (id: string, text: string) => until(async () => lines.find(({ msg, reqId }) => msg === text && reqId === id), `${text} of ${id}`)
  for (const id of ['told-first', 'told-second']) {
    t.match(await findLine(id, 'request answered'), { host: service.host }, 'what the channel asked')
    await findLine(id, 'delivery arrived')
  }
  t.notOk(lines.some(({ msg, reqId }) => msg === 'delivery arrived' && reqId === undefined))
})

t.test('a scan worker without a supervisor logs that its metrics are not collected', async (t) => {
  t.equal(toldAtStart.filter(({ msg }) => /the metrics of this scan worker cannot be read.* svc start/.test(msg)).length, 1)
})

t.test('metrics need a token that may read the log, or an allowed address', async (t) => {
  const statusFor = async (from: string, headers: Record<string, string> = {}) =>
    (await app.inject({ url: '/metrics', remoteAddress: from, headers })).statusCode
  const user = await server.createUser('alice')
  t.equal(await statusFor('192.0.2.1'), 401)
  t.equal(await statusFor('192.0.2.1', user), 403)
  t.equal(await statusFor('192.0.2.1', admin), 200)
  t.equal(await statusFor('203.0.113.7'), 200)
  t.equal(await statusFor('203.0.113.8'), 401)
  t.equal(await statusFor('198.51.100.1', { 'x-forwarded-for': '203.0.113.7' }), 200, 'by a trusted proxy')
  t.equal(await statusFor('198.51.100.1', { 'x-forwarded-for': '192.0.2.1' }), 401)
  t.equal(await statusFor('192.0.2.1', { 'x-forwarded-for': '203.0.113.7' }), 401, 'any other can say what it likes')
  t.equal(await statusFor('203.0.113.7', { 'x-forwarded-for': '192.0.2.1' }), 401, 'nor lends it its own address')
})

t.test('requests count by the template of their route, never by their address', async (t) => {
  await app.inject({ url: '/api/roms/4711', headers: admin })
  await app.inject({ url: '/api/made-up/4712' })
  const text = await until(async () => {
    const text = await readMetrics()
    return valueOf(text, 'svc_http_request_duration_seconds_count', { route: 'none', status: '4xx' }) !== undefined && text
  }, 'what was measured')
  t.equal(valueOf(text, 'svc_http_request_duration_seconds_count', { method: 'GET', route: '/api/roms/:id', status: '4xx' }), 1)
  // Check labels only, because these digits may occur by chance in values.
  t.notMatch(text, /="[^"\n]*471[12]/)
  t.ok((valueOf(text, 'svc_http_requests_under_way') ?? 0) >= 1, 'this one is')
})

t.test('a scan, its providers and its waiting jobs are measured', async (t) => {
  await scan(server)
  const measured = await worker?.metrics.readOwn() ?? []
  const read = (name: string, labels: Record<string, string>) => measured.find((metric) => metric.name === name)?.values
    .find((value) => (value.metricName ?? name).match(/_bucket$/) === null &&
      Object.entries(labels).every(([label, text]) => value.labels[label] === text))?.value
  t.ok((read('svc_scan_done_total', { what: 'scanned_roms' }) ?? 0) >= 2)
  t.equal(read('svc_scans_running', {}), 0)
  t.ok((read('svc_provider_call_duration_seconds', { provider: 'teller', outcome: 'answered' }) ?? 0) > 0)
  t.ok((read('svc_plugin_request_duration_seconds', { plugin: 'provider/teller', outcome: 'answered' }) ?? 0) > 0)
  t.equal(read('svc_provider_circuit', { provider: 'teller', state: 'closed' }), 1)
  t.equal(read('svc_provider_requests_per_second_limit', { provider: 'teller' }), 50)
  t.equal(read('svc_provider_allowance_remaining', { provider: 'teller', allowance: 'daily' }), 7)
  const text = await readMetrics()
  t.ok((valueOf(text, 'svc_jobs', { queue: 'scan', state: 'completed' }) ?? 0) >= 1)
  t.equal(valueOf(text, 'svc_process_up', { process: 'web' }), 1)
  t.ok((valueOf(text, 'process_resident_memory_bytes', { process: 'web' }) ?? 0) > 1_000_000)
  t.not(valueOf(text, 'svc_database_connections', { process: 'web', state: 'idle' }), undefined)
})

/** Lists the metrics that a dashboard queries. */
function listAsked (dashboard: string): string[] {
  const { panels } = JSON.parse(dashboard) as { panels: { targets?: { expr: string }[] }[] }
  const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  return [...new Set(exprs.flatMap((expr) => expr.match(/\b(?:svc|process|nodejs)_[a-z\d_]+/g) ?? []))]
}

t.test('every metric that the dashboard queries is served', async (t) => {
  const text = await readMetrics()
  const names = new Set([...(await worker?.metrics.readOwn() ?? []).map(({ name }) => name),
    ...[...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name)])
  const asked = listAsked(readFileSync(DASHBOARD, 'utf8'))
  t.ok(asked.length > 20)
  t.same(asked.filter((name) => !names.has(name) && !names.has(name.replace(/_(?:bucket|sum|count)$/, ''))), [])
})

t.test('totals never fall when a process hangs or ends, but its gauges vanish', async (t) => {
  const metric = (name: string, type: string, value: number): MetricSnapshot =>
    ({ name, type, help: 'x', aggregator: 'sum', values: [{ value, labels: {} }] })
  let answer: number | null = null
  const measures = createMeasures(() => [{
    name: 'web worker 1',
    readMeasured: async () => answer === null ? null : [metric('done', 'counter', answer), metric('open', 'gauge', answer)]
  }])
  /** Returns the sum of each metric, and if the process is up. */
  async function read () {
    const { processes, former } = await measures.readAll()
    const all = [...processes.flatMap(({ measured }) => measured), ...former]
    const sum = (wanted: string) => all.filter(({ name }) => name === wanted)
      .reduce((total, { values }) => total + values.reduce((part, { value }) => part + value, 0), 0)
    return [sum('done'), sum('open'), processes.find(({ name }) => name === 'web worker 1')?.is_up]
  }
  answer = 5
  t.same(await read(), [5, 5, true])
  answer = null
  t.same(await read(), [5, 0, false], 'busy')
  measures.keepTotals('web worker 1')
  t.same(await read(), [5, 0, false], 'dead')
  answer = 2
  t.same(await read(), [7, 2, true], 'another in its place')
  measures.keepTotals('web worker 1')
  measures.keepTotals('web worker 1')
  answer = null
  t.same(await read(), [7, 0, false])
})

async function buildQuiet (t: Test) {
  return await buildTestApp(t, { packages: [], env: { SVC_METRICS_ALLOW: '127.0.0.1' } })
}

t.test('nothing is measured by default', async (t) => {
  const { app, admin } = await buildQuiet(t)
  const answer = await app.inject({ url: '/metrics', headers: admin })
  t.equal(answer.statusCode, 404)
  t.match(answer.json(), { detail: /SVC_METRICS=true/ })
  t.same(await app.metrics.readOwn(), [])
})
