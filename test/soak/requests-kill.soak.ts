import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, type ClientRequest, request as sendRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { listChildren, tryFetch } from '../e2e/server.ts'
import { until } from '../until.ts'
import { AUTHORIZATION, type SoakServer, WAIT_MS, startServer } from './server.ts'

const KILLS = Number(process.env.SOAK_ROUNDS ?? 5) * 6
const VISITORS = 12
/** Time limit of an open request. */
const OPEN_MAX_MS = 10_000
/** Time that a client waits for a missing response. */
const GIVE_UP_MS = 60_000
/** Reports for each hanging request which process holds its connection; needs the program `ss`. */
const SHOWS_SOCKETS = process.env.SOAK_SHOW_SOCKETS === '1'
const PATHS = ['/api/heartbeat', '/api/roms', '/api/devices', '/api/users/me', '/api/permissions/groups']

/** The victims in order. A server gives up if its database ends six times in a row within a minute of its start. */
const KINDS = ['web worker', 'database connection', 'database', 'web worker', 'database connection', 'web worker'] as const
type Kind = typeof KINDS[number]
const DATABASE_KILLS_MAX = 5

/** A kill and its time. */
interface Kill { kind: Kind, at: number }
type Ending = number | 'closed' | 'hung'
interface Ended { ending: Ending, ms: number }

const kills: Kill[] = []

/** Lists the processes that hold either end of a connection. */
async function findHolders (port: number | undefined): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ss', ['-tanp'])
  return stdout.split('\n').filter((line) => line.includes(`:${port} `)).map((line) => line.replaceAll(/\s+/g, ' '))
}

/** Describes a request that is still open. */
async function describe (request: ClientRequest, since: number) {
  const { path, reusedSocket, socket } = request
  const last = kills.findLast(({ at }) => at <= since)
  const next = kills.find(({ at }) => at > since)
  return {
    path,
    isReused: reusedSocket,
    localPort: socket?.localPort,
    sentBytes: socket?.bytesWritten,
    receivedBytes: socket?.bytesRead,
    killBefore: last === undefined ? null : { kind: last.kind, ms: Math.round(since - last.at) },
    killAfter: next === undefined ? null : { kind: next.kind, ms: Math.round(next.at - since) },
    holders: SHOWS_SOCKETS ? await findHolders(socket?.localPort) : null
  }
}

/** Sends one request and returns how it ended. Reports a request that is open for too long at once. */
function ask (url: string, path: string, agent: Agent | false, tell: (text: string) => void): Promise<Ended> {
  return new Promise((resolve) => {
    const since = performance.now()
    const end = (ending: Ending) => {
      clearTimeout(late)
      resolve({ ending, ms: performance.now() - since })
    }
    const request = sendRequest(`${url}${path}`, {
      method: path === '/api/devices' ? 'POST' : 'GET', agent, headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' }
    }, (answer) => {
      answer.resume().on('end', () => { end(answer.statusCode ?? 0) }).on('error', () => { end('closed') })
    })
    const late = setTimeout(() => {
      describe(request, since).then((facts) => { tell(`open for too long: ${JSON.stringify(facts)}`) }, (err: unknown) => { tell(String(err)) })
    }, OPEN_MAX_MS)
    request.on('error', () => { end('closed') })
    request.setTimeout(GIVE_UP_MS, () => {
      end('hung')
      request.destroy()
    })
    request.end(path === '/api/devices' ? JSON.stringify({ hostname: 'deck', platform: 'linux' }) : undefined)
  })
}

const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))

t.test('every request ends, whatever is killed', async (t) => {
  const server = await startServer(t, join(folder, 'data'), join(folder, 'library'), { WEB_SERVER_CONCURRENCY: '2' })
  t.teardown(() => { server.command.child.kill('SIGTERM') })
  const endings = new Map<Ending, number>()
  let longestMs = 0
  const over = new AbortController()

  async function visit (visitor: number): Promise<void> {
    const agent = visitor % 2 === 0 ? new Agent({ keepAlive: true, maxSockets: 1 }) : false
    for (let count = visitor; !over.signal.aborted; count++) {
      const { ending, ms } = await ask(server.url, PATHS[count % PATHS.length] ?? '/', agent, (text) => { t.comment(text) })
      longestMs = Math.max(longestMs, ms)
      endings.set(ending, (endings.get(ending) ?? 0) + 1)
      // Otherwise refused requests would be repeated thousands of times.
      if (ending === 'closed') await until(async () => over.signal.aborted || await tryFetch(`${server.url}/api/health`), 'a server', { ...server.command, ms: WAIT_MS })
    }
    if (agent !== false) agent.destroy()
  }

  const visitors = Array.from({ length: VISITORS }, (_, visitor) => visit(visitor))
  let databaseKills = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const kind = KINDS[kill % KINDS.length] ?? 'database'
    const isSpared = kind === 'database' && ++databaseKills > DATABASE_KILLS_MAX
    await killOne(server, isSpared ? 'web worker' : kind, kill)
    await until(async () => {
      const answer = await tryFetch(`${server.url}/api/devices`, { headers: { authorization: AUTHORIZATION } })
      return answer?.status === 200
    }, 'an answer', { ...server.command, ms: WAIT_MS })
  }
  over.abort()
  await Promise.all(visitors)
  t.comment(`${KILLS} kills; requests by their end: ${JSON.stringify(Object.fromEntries(endings))}; ` +
    `the longest was open for ${(longestMs / 1_000).toFixed(1)} s`)
  t.equal(endings.get('hung'), undefined)
  t.equal(endings.get(500), undefined)
  t.ok(longestMs < OPEN_MAX_MS, `${longestMs} ms`)
  t.ok((endings.get(200) ?? 0) > KILLS)
  await server.stop()
})

/** Kills a process that answers requests, or the database or connection that it uses. */
async function killOne (server: SoakServer, kind: Kind, turn: number): Promise<void> {
  kills.push({ kind, at: performance.now() })
  if (kind === 'database connection') {
    const rows = await server.query<{ pid: number }>(`select pg_terminate_backend(pid), pid from (
      select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      order by pid offset $1 % 5 limit 1) one`, [turn])
    if (rows?.length === 0) throw new Error('The server has no database connection')
    return
  }
  const workers = await listChildren(server.command.pid, 'web')
  const pid = kind === 'database' ? await server.databasePid() : workers[turn % Math.max(1, workers.length)]
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
}
