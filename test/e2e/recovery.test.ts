import { join } from 'node:path'
import t from 'tap'
import { isAlive, listChildren, runSvc, settings, until, waitUntilListening } from './server.ts'

t.test('a server whose supervisor was killed leaves nothing behind and starts again', async (t) => {
  const dataDir = join(t.testdir({}), 'data')
  const env = settings(dataDir)
  const first = runSvc(t, ['start'], env)
  await waitUntilListening(first, dataDir)
  const children = await until('the scan worker', async () => {
    const [web, worker] = [await listChildren(first.pid, 'web'), await listChildren(first.pid, 'worker')]
    return worker.length === 1 && [...web, ...worker]
  }, first)
  first.child.kill('SIGKILL')
  t.match(await first.ended, { signal: 'SIGKILL' })

  const { code, output } = await runSvc(t, ['user', 'add', 'somebody'], { ...env, SVC_NEW_PASSWORD: 'password' }).ended
  t.equal(code, 1)
  t.match(output, /No server is running on .*Start it with node .*svc\.js.* start/)

  const second = runSvc(t, ['start'], env)
  const { state } = await waitUntilListening(second, dataDir)
  t.equal(state.pid, second.pid)
  await until('the orphans to end', async () => children.every((pid) => !isAlive(pid)), second)
  second.child.kill('SIGTERM')
  t.match(await second.ended, { code: 0 })
})
