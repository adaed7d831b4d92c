import { randomUUID } from 'node:crypto'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { WebSocket } from 'undici'
import type { Config } from '../../core/config/config.ts'
import { listenUrl, shareableBaseUrl } from '../../core/config/base-url.ts'
import { directUrlOf } from '../../core/config/database-urls.ts'
import { withSession } from '../../core/database/session.ts'
import { NEVER, limitTime } from '../../core/concurrency/limit-time.ts'
import { REQUEST_ID_HEADER } from '../../core/log/request-id.ts'
import { SOCKET_PATH } from '../../core/sockets/request.ts'
import type { ProxyProblemKind } from '../../core/sockets/proxy-problems.ts'
import { checkPort } from '../../core/supervisor/port.ts'
import { StartError } from '../../core/errors.ts'
import { describeProblems } from '../heartbeat/problems.ts'
import { type DoctorCheck, type Finding, fail, ok, reasonOf, warn } from './finding.ts'
import { selectHasWorker } from './rows.ts'

const ANSWER_MS = 5_000
/** The first message of engine.io on a connection. */
const OPENED = /^0\{/
const ENGINE = `${SOCKET_PATH}/?EIO=4&transport=`
/** Codes of Node's TLS for certificates without a trusted signer. */
const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|CERT_UNTRUSTED/

const asWebSocket = (url: string) => url.replace(/^http/, 'ws')

async function examinePort ({ server }: Config): Promise<Finding> {
  const subject = 'port'
  try {
    const port = await checkPort(server)
    return ok(subject, `${server.host}:${server.port === 0 ? 'any' : port} is free`)
  } catch (err) {
    if (!(err instanceof StartError)) throw err
    const [message = '', ...remedy] = err.message.split(/(?<=\.) /)
    return fail(subject, message, remedy.join(' '))
  }
}

/** Requests the server's health at an address. @throws the error that prevents a response */
async function requestHealth (base: string): Promise<Finding | null> {
  const id = randomUUID()
  const answer = await fetch(`${base}/api/health`, {
    headers: { [REQUEST_ID_HEADER]: id }, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS)
  })
  const location = answer.headers.get('location')
  if (location !== null) {
    return fail('base URL', `${base} redirects to ${location}`, 'Set SVC_BASE_URL to the final address')
  }
  const body: unknown = await answer.json().catch(() => null)
  const isThisServer = answer.status === 200 && typeof body === 'object' && body !== null && 'status' in body && body.status === 'ok'
  return isThisServer
    ? null
    : fail('base URL', `${base}/api/health answers ${answer.status}, and the response is not from this server`,
      'Configure the proxy to forward that address to this server, with the path of SVC_BASE_URL')
}

function explainUnreached (base: string, err: unknown): Finding {
  const reason = reasonOf(err)
  const cause = err instanceof Error ? err.cause : null
  const code = cause instanceof Error ? String(Reflect.get(cause, 'code')) : ''
  const message = `${base} cannot be reached from here: ${reason}`
  if (UNTRUSTED.test(code)) return warn('base URL', message, 'If you issued its certificate yourself, apps must trust it too')
  if (err instanceof Error && err.name === 'TimeoutError') {
    return warn('base URL', `${base} does not answer within ${ANSWER_MS / 1_000} s`,
      'Try it from another machine, because some routers do not forward requests from their own network; if it fails there too, correct SVC_BASE_URL or the proxy')
  }
  return fail('base URL', message, 'Correct SVC_BASE_URL, or start the proxy in front of this server')
}

/** Opens a socket as a page of that address would. @throws the error that prevents it */
async function openSocket (base: string): Promise<void> {
  const socket = new WebSocket(`${asWebSocket(base)}${ENGINE}websocket`, { headers: { origin: new URL(base).origin } })
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  socket.addEventListener('message', ({ data }) => { if (OPENED.test(String(data))) resolve(undefined) })
  socket.addEventListener('error', () => { reject(new Error('the handshake was refused')) })
  socket.addEventListener('close', () => { reject(new Error('the connection was closed')) })
  try {
    await limitTime('no answer within', ANSWER_MS, NEVER, () => promise)
  } finally {
    socket.close()
  }
}

/** Finds out if polling works, which every proxy allows, although a WebSocket failed. */
async function findSign (base: string): Promise<ProxyProblemKind | null> {
  const answer = await fetch(`${base}${ENGINE}polling`, {
    headers: { origin: new URL(base).origin }, signal: AbortSignal.timeout(ANSWER_MS)
  })
  const text = await answer.text()
  if (answer.status === 200 && OPENED.test(text)) return 'upgrade_missing'
  return answer.status === 403 ? 'origin_refused' : null
}

async function examineSockets (base: string, config: Config): Promise<Finding> {
  const subject = 'WebSocket'
  try {
    await openSocket(base)
    return ok(subject, `Sockets can be opened at ${asWebSocket(base)}${SOCKET_PATH}`)
  } catch (err) {
    const kind = await findSign(base).catch(() => null)
    const subjects = { upgrade_missing: new URL(base).host, origin_refused: new URL(base).origin, clients_trusted: '' }
    const [problem] = kind === null
      ? []
      : describeProblems([{ kind, subject: subjects[kind], seen_at: new Date().toISOString() }], config)
    return problem === undefined
      ? fail(subject, `No socket can be opened at ${base}${SOCKET_PATH}: ${reasonOf(err)}`, 'Configure the proxy to forward that path to this server')
      : fail(subject, problem.message, problem.remedy, problem.lines)
  }
}

/** Checks if an address leads to this server, and allows sockets. */
export async function examineBaseUrl (base: string, config: Config): Promise<Finding[]> {
  try {
    const problem = await requestHealth(base)
    return problem === null ? [ok('base URL', `${base} leads to this server`), await examineSockets(base, config)] : [problem]
  } catch (err) {
    return [explainUnreached(base, err)]
  }
}

const isOneAddress = (entry: string) => isIP(entry.replace(/\/(?:32|128)$/, '')) !== 0

/** Checks the proxy settings without a request through the proxy. */
function examineProxies ({ server: { base_url: base, trusted_proxies: trusted } }: Config): Finding[] {
  const subject = 'proxy'
  if (base.startsWith('https:') && trusted.length === 0) {
    return [warn(subject, 'SVC_BASE_URL is https, so there is a proxy in front of the server, but no proxy is trusted: all visitors count as one',
      'Add the address of the proxy to SVC_TRUSTED_PROXIES, and let the proxy send X-Forwarded-For and X-Forwarded-Proto')]
  }
  const networks = trusted.filter((entry) => !isOneAddress(entry))
  return networks.length === 0
    ? []
    : [warn(subject, `SVC_TRUSTED_PROXIES contains networks (${networks.join(', ')}): a visitor from one of them can claim any address`,
        'List the address of each proxy instead')]
}

async function examineServer (url: string): Promise<Finding[]> {
  const subject = 'server'
  const remedy = 'See the log of the server'
  try {
    const answer = await fetch(`${url}/api/health/ready`, { signal: AbortSignal.timeout(ANSWER_MS) })
    const { checks } = await answer.json() as { checks: Record<string, { status: string, reason: string | null }> }
    const failed = Object.entries(checks).filter(([name, { status }]) => status !== 'ok' && name !== 'libraries')
    return failed.length === 0
      ? [ok(subject, `The server runs at ${url}, with its database and scan worker`)]
      : failed.map(([, { reason }]) => fail(subject, reason ?? 'The server is not ready', remedy))
  } catch (err) {
    return [fail(subject, `The server runs but does not answer at ${url}: ${reasonOf(err)}`, remedy)]
  }
}

/** Returns the address of a `svc web` on this machine, which locks no data directory; null if none answers. */
async function findLoneWeb (config: Config): Promise<string | null> {
  if (directUrlOf(config) === undefined || config.server.port === 0) return null
  const url = listenUrl(config, config.server.port)
  const problem = await requestHealth(url).catch(() => 'it does not run')
  return problem === null ? url : null
}

/** True if a lone `svc worker` runs on this machine, which listens nowhere. */
async function hasLoneWorker (config: Config): Promise<boolean> {
  const url = directUrlOf(config)
  if (url === undefined) return false
  const options = { connectionString: url, connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS }
  // The check of the database reports the reason of a failure.
  return await withSession(options, (client) => selectHasWorker(client, hostname())).catch(() => false)
}

/** Describes a machine on which no web worker answers. */
async function examineStopped (config: Config): Promise<Finding[]> {
  return await hasLoneWorker(config)
    ? [ok('server', `A scan worker runs on this machine, and no web worker answers at ${listenUrl(config, config.server.port)}`)]
    : [ok('server', 'The server does not run; its address can be checked only while it runs'), await examinePort(config)]
}

/** Checks the access to the server: port, address, proxy, sockets. */
export const examineAddress: DoctorCheck = async ({ config, state: whole }) => {
  const proxies = examineProxies(config)
  const shared = shareableBaseUrl(config)
  const loneUrl = whole === null ? await findLoneWeb(config) : null
  const state = loneUrl === null ? whole : { url: loneUrl }
  if (state === null) return [...await examineStopped(config), ...proxies]
  if (state.url === null) return [warn('server', 'The server is starting', 'Run this command again in a minute'), ...proxies]
  const advice = shared === null
    ? [ok('base URL', 'SVC_BASE_URL has no host, so mails and feeds contain no links to this server'), await examineSockets(state.url, config)]
    : await examineBaseUrl(shared, config)
  return [...await examineServer(state.url), ...advice, ...proxies]
}
