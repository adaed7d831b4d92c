import { get } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { readLockFile } from '../../core/postgres/cluster.ts'
import { makeFolder } from '../folder.ts'
import { until } from '../until.ts'
import {
  createUsedDataDir, isAlive, listChildren, runSvc, settings, tryFetch, waitUntilListening
} from './server.ts'

t.test('a server whose supervisor was killed leaves nothing behind and starts again', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  createUsedDataDir(dataDir)
  const env = settings(dataDir)
  const first = runSvc(t, ['start'], env)
  await waitUntilListening(first, dataDir)
  const children = await until(async () => {
    const [web, worker] = [await listChildren(first.pid, 'web'), await listChildren(first.pid, 'worker')]
    return worker.length === 1 && [...web, ...worker]
  }, 'the scan worker', first)
  first.child.kill('SIGKILL')
  t.match(await first.ended, { signal: 'SIGKILL' })

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

/** A request of its own connection: when it was sent, and how it ended, by its status or 'closed'. */
function ask (url: string) {
  const [sent, end] = [Promise.withResolvers<void>(), Promise.withResolvers<number | 'closed'>()]
  const request = get(`${url}/api/heartbeat`, { agent: false }, (answer) => {
    answer.resume()
    end.resolve(answer.statusCode ?? 0)
  })
  request.on('finish', sent.resolve).on('error', () => { end.resolve('closed') })
  return { sent: sent.promise, end: end.promise }
}

t.test('a dying web worker closes what it was handed; without a database it answers to try later', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  createUsedDataDir(dataDir)
  const command = runSvc(t, ['start'], settings(dataDir, { WEB_SERVER_CONCURRENCY: '1' }))
  const { url } = await waitUntilListening(command, dataDir)
  const [pid = 0] = await listChildren(command.pid, 'web')
  process.kill(pid, 'SIGSTOP')
  const asked = [ask(url), ask(url), ask(url)]
  await Promise.all(asked.map(({ sent }) => sent))
  process.kill(pid, 'SIGKILL')
  t.same(await Promise.all(asked.map(({ end }) => end)), ['closed', 'closed', 'closed'])

  await waitUntilListening(command, dataDir)
  const database = Number((await readLockFile(join(dataDir, 'db')))[0])
  process.kill(database, 'SIGKILL')
  const refused = await until(async () => {
    const answer = await tryFetch(`${url}/api/heartbeat`)
    return answer !== null && answer.status !== 200 && answer
  }, 'an answer without a database', command)
  t.equal(refused.status, 503)
  t.match(refused.headers.get('retry-after'), /^\d+$/)
  t.match(await refused.json(), { detail: /try again/ })
  await until(async () => (await tryFetch(`${url}/api/heartbeat`))?.status === 200, 'the first answer again', command)
})

t.test('whoever connects while a web worker finishes is answered or cut off', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  createUsedDataDir(dataDir)
  const command = runSvc(t, ['start'], settings(dataDir, { WEB_SERVER_CONCURRENCY: '1' }))
  const { url } = await waitUntilListening(command, dataDir)
  const [pid = 0] = await listChildren(command.pid, 'web')
  let waiting = 0

  /** Asks again and again, until nobody listens. */
  async function visit (): Promise<void> {
    for (let end: number | 'closed' = 0; end !== 'closed'; waiting--) {
      waiting++
      end = await ask(url).end
    }
  }
  const visitors = Array.from({ length: 24 }, visit)
  process.kill(pid, 'SIGTERM')
  await until(() => !isAlive(pid), 'its end', command)
  await until(() => waiting === 0, 'the end of every request', { ms: 10_000, output: () => `${waiting} are open` })
  await Promise.all(visitors)
})
