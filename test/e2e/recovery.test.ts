import { get } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { readLockFile } from '../../core/postgres/cluster.ts'
import { makeFolder } from '../folder.ts'
import { until } from '../until.ts'
import {
  createUsedDataDir, isAlive, listChildren, runSvc, settings, tryFetch, waitUntilListening
} from './server.ts'

const dataDir = join(makeFolder(t), 'data')
createUsedDataDir(dataDir)
const env = settings(dataDir, { WEB_SERVER_CONCURRENCY: '1' })
const server = runSvc(t, ['start'], env)
const { url } = await waitUntilListening(server, dataDir)

/** The only web worker there is. */
async function findWeb (): Promise<number> {
  return await until(async () => (await listChildren(server.pid, 'web'))[0], 'a web worker', server)
}

/** A request of its own connection: when it was sent, and how it ended, by its status or 'closed'. */
function ask () {
  const [sent, end] = [Promise.withResolvers<void>(), Promise.withResolvers<number | 'closed'>()]
  const request = get(`${url}/api/heartbeat`, { agent: false }, (answer) => {
    answer.resume()
    end.resolve(answer.statusCode ?? 0)
  })
  request.on('finish', sent.resolve).on('error', () => { end.resolve('closed') })
  return { sent: sent.promise, end: end.promise }
}

async function untilAnswered (): Promise<void> {
  await until(async () => (await tryFetch(`${url}/api/heartbeat`))?.status === 200, 'the first answer again', server)
}

t.test('whom a dying web worker was handed is cut off, and whom it was not yet is answered by the next', async (t) => {
  const pid = await findWeb()
  process.kill(pid, 'SIGSTOP')
  const asked = [ask(), ask(), ask()]
  await Promise.all(asked.map(({ sent }) => sent))
  process.kill(pid, 'SIGKILL')
  for (const end of await Promise.all(asked.map(({ end }) => end))) t.match(String(end), /^(closed|200)$/)
  await untilAnswered()
})

t.test('whoever connects while a web worker finishes is answered or cut off', async () => {
  const pid = await findWeb()
  let waiting = 0

  /** Asks again and again, until nobody listens. */
  async function visit (): Promise<void> {
    for (let end: number | 'closed' = 0; end !== 'closed'; waiting--) {
      waiting++
      end = await ask().end
    }
  }
  const visitors = Array.from({ length: 24 }, visit)
  process.kill(pid, 'SIGTERM')
  await until(() => !isAlive(pid), 'its end', server)
  await until(() => waiting === 0, 'the end of every request', { output: () => `${waiting} are open` })
  await Promise.all(visitors)
  await untilAnswered()
})

t.test('without a database the server answers to try later, and has it back by itself', async (t) => {
  const database = Number((await readLockFile(join(dataDir, 'db')))[0])
  process.kill(database, 'SIGKILL')
  const refused = await until(async () => {
    const answer = await tryFetch(`${url}/api/heartbeat`)
    return answer !== null && answer.status !== 200 && answer
  }, 'an answer without a database', server)
  t.equal(refused.status, 503)
  t.match(refused.headers.get('retry-after'), /^\d+$/)
  t.match(await refused.json(), { detail: /try again/ })
  await untilAnswered()
})

t.test('a server whose supervisor was killed leaves nothing behind and starts again', async (t) => {
  const children = await until(async () => {
    const [web, worker] = [await listChildren(server.pid, 'web'), await listChildren(server.pid, 'worker')]
    return web.length === 1 && worker.length === 1 && [...web, ...worker]
  }, 'the scan worker', server)
  server.child.kill('SIGKILL')
  t.match(await server.ended, { signal: 'SIGKILL' })

  const { code, output } = await runSvc(t, ['user', 'add', 'somebody'], { ...env, SVC_NEW_PASSWORD: 'password' }).ended
  t.equal(code, 1)
  t.match(output, /No server is running on .*Start it with node .*svc\.js.* start/)

  const second = runSvc(t, ['start'], env)
  const { state } = await waitUntilListening(second, dataDir)
  t.equal(state.pid, second.pid)
  await until(async () => children.every((pid) => !isAlive(pid)), 'the orphans to end', second)
  second.child.kill('SIGTERM')
  t.match(await second.ended, { code: 0 })
})
