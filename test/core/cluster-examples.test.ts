import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { listSettings } from '../../core/config/setting-values.ts'
import { createConfigSchema } from '../../core/config/schema.ts'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { features } from '../../plugins/index.ts'

// The files of examples/cluster and examples/kubernetes: their settings, commands, ports and names exist.

const SETTINGS = listSettings(createConfigSchema(await features.loadSections()))
const VARIABLES = new Set(SETTINGS.map(({ env }) => env))
const SECRETS = SETTINGS.filter(({ schema }) => schema.writeOnly === true).map(({ env }) => env)
/** Variables of the image and of the pod. */
const OTHERS = new Set(['PUID', 'PGID', 'POD_IP'])
const PORT = SETTINGS.find(({ env }) => env === 'SVC_PORT')?.schema.default as number

const read = (...path: string[]) => readFileSync(join(SERVER_DIR, 'examples', ...path), 'utf8')
const findUnknown = (names: readonly string[]) => names.filter((name) => !VARIABLES.has(name) && !OTHERS.has(name))

interface Service {
  command?: string[]
  environment?: Record<string, string>
  networks: string[] | Record<string, { aliases?: string[], ipv4_address?: string }>
  volumes?: string[]
}

const compose = parse(read('cluster', 'compose.yml'), { merge: true }) as {
  services: Record<string, Service>, volumes: object, networks: object
}

t.test('the hosts of the compose file differ in role and address only', async (t) => {
  const { web1, web2, worker1, worker2 } = compose.services
  t.same([web1, web2, worker1, worker2].map((service) => service?.command), [['svc', 'web'], ['svc', 'web'], ['svc', 'worker'], ['svc', 'worker']])
  for (const [name, service] of Object.entries({ web1, web2, worker1, worker2 })) {
    t.same(findUnknown(Object.keys(service?.environment ?? {})), [], name)
    t.match(service?.environment, { SVC_DATABASE_URL: /@pgbouncer:6432\/svc$/, SVC_DATABASE_DIRECT_URL: /@postgres:5432\/svc$/ })
    t.same(service?.volumes, web1?.volumes, name)
  }
  for (const [name, service] of Object.entries({ web1, web2 })) {
    t.equal(service?.environment?.SVC_INTERNAL_ADDRESS, `${name}.hosts:8081`)
    t.match(service?.networks, { hosts: { aliases: [`${name}.hosts`] } })
  }
  t.match(compose.services.haproxy?.networks, { proxy: { ipv4_address: web1?.environment?.SVC_TRUSTED_PROXIES } })
})

t.test('the files that the compose file mounts exist and know its services', async (t) => {
  const files = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes).filter((line) => line.startsWith('./'))
    .map((line) => line.split(':')[0] ?? '')
  t.same(files.sort(), ['./allow-standby.sh', './haproxy.cfg', './pgbouncer.ini'])
  for (const file of files) t.ok(read('cluster', file).length > 0, file)
  const servers = [...read('cluster', 'haproxy.cfg').matchAll(/^ {2}server (\S+) (\S+):(\d+)$/gm)].map(([, name, host, port]) => [name, host, Number(port)])
  t.same(servers, [['web1', 'web1', PORT], ['web2', 'web2', PORT]])
  const pooler = read('cluster', 'pgbouncer.ini')
  t.match(pooler, /^svc = host=postgres port=5432 dbname=svc connect_query='set statement_timeout = \d+; set lock_timeout = \d+; /m)
  t.match(pooler, /^pool_mode = transaction$/m)
  t.match(pooler, /^listen_port = 6432$/m)
  const networks = new Set(Object.keys(compose.networks))
  for (const { networks: used } of Object.values(compose.services)) {
    for (const name of Array.isArray(used) ? used : Object.keys(used)) t.ok(networks.has(name), name)
  }
})

type Values = Record<string, unknown>
const values = parse(read('kubernetes', 'values.yaml')) as Values

/** Renders a template, which only inserts values. */
const render = (template: string) => template.replaceAll(/\{\{ \.(\S+) \}\}/g, (_all, path: string) => {
  const value = path.split('.').reduce<unknown>((at, key) => (at as Values | undefined)?.[key], { Values: values, Release: { Name: 'games' } })
  if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`${path} is no value`)
  return String(value)
})

interface Manifest {
  kind: string
  metadata: { name: string }
  spec: { template?: { metadata: { labels: object }, spec: Pod }, selector?: { matchLabels?: object } }
}
interface Pod { containers: Container[], volumes: { name: string }[], terminationGracePeriodSeconds: number }
interface Container {
  args: string[]
  env: { name: string, value?: string }[]
  ports?: { name: string, containerPort: number }[]
  startupProbe?: object
  livenessProbe?: object
  readinessProbe?: object
  lifecycle?: object
  volumeMounts: { name: string }[]
}

const TEMPLATES = readdirSync(join(SERVER_DIR, 'examples', 'kubernetes', 'templates'))
const manifests = TEMPLATES.flatMap((name) => parseAllDocuments(render(read('kubernetes', 'templates', name)))
  .map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0]
    return document.toJS() as Manifest
  }))
const podOf = (name: string) => manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)?.spec.template?.spec

t.test('the chart runs web hosts with probes and a drain, and scan workers', async (t) => {
  t.match(parse(read('kubernetes', 'Chart.yaml')), { apiVersion: 'v2', name: 'svc' })
  t.same(manifests.map(({ kind }) => kind).sort(), ['Deployment', 'Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'PodDisruptionBudget', 'Service'])
  const [web, worker] = [podOf('games-web'), podOf('games-worker')]
  t.match(web?.containers, [{
    args: ['svc', 'web'],
    ports: [{ name: 'http', containerPort: PORT }, { name: 'hosts', containerPort: 8081 }],
    livenessProbe: { httpGet: { path: '/api/health', port: 'http' } },
    readinessProbe: { httpGet: { path: '/api/health/ready', port: 'http' } },
    startupProbe: { httpGet: { path: '/api/health', port: 'http' } },
    lifecycle: { preStop: {} }
  }])
  t.match(worker?.containers, [{ args: ['svc', 'worker'] }])
  for (const pod of [web, worker]) {
    const [container] = pod?.containers ?? []
    t.same(findUnknown(container?.env.map(({ name }) => name) ?? ['none']), [])
    t.same(container?.volumeMounts.map(({ name }) => name), pod?.volumes.map(({ name }) => name))
    t.ok((pod?.terminationGracePeriodSeconds ?? 0) >= Number(values.drainSeconds) + 15, 'a pod may end before it is killed')
  }
  t.same(web?.containers[0]?.env.find(({ name }) => name === 'SVC_INTERNAL_ADDRESS')?.value, '$(POD_IP):8081')
})

t.test('services and budgets of the chart select its pods', async (t) => {
  const labels = manifests.flatMap(({ spec: { template } }) =>
    template === undefined ? [] : [JSON.stringify(template.metadata.labels)])
  for (const { kind, spec: { selector } } of manifests) {
    if (selector !== undefined) t.ok(labels.includes(JSON.stringify(selector.matchLabels ?? selector)), kind)
  }
})

t.test('the chart contains no secret, and names the keys of one', async (t) => {
  const text = ['values.yaml', ...TEMPLATES.map((name) => join('templates', name))].map((name) => read('kubernetes', name)).join('\n')
  const lines = text.split('\n').filter((line) => !line.trim().startsWith('#')).join('\n')
  for (const name of SECRETS) if (name !== undefined) t.notMatch(lines, name, name)
  t.notMatch(lines, /password|token/i)
  const keys = [...read('kubernetes', 'README.md').matchAll(/--from-literal=(\w+)=/g)].map(([, key = '']) => key)
  t.ok(keys.length > 3)
  t.same(findUnknown(keys), [])
})
