import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { startWatchdog } from '../../core/loader/process/watchdog.ts'
import { isAlive } from '../../core/process/process-alive.ts'
import { until } from '../until.ts'

t.test('a plugin in an endless loop ends with its killed scan worker', async (t) => {
  const worker = fork(new URL('hanging-worker.ts', import.meta.url), {
    execArgv: ['--conditions=svc:source'], env: { ...process.env, TMPDIR: t.testdir() }
  })
  t.teardown(() => worker.kill('SIGKILL'))
  const [pid] = await once(worker, 'message') as [number]
  t.teardown(() => { if (isAlive(pid)) process.kill(pid, 'SIGKILL') })
  await once(worker, 'message')
  worker.kill('SIGKILL')
  await until(() => !isAlive(pid), 'the process of the plugin ends', { ms: 10_000 })
})

t.test('the watchdog of a process ends with it', { skip: process.platform === 'win32' }, async (t) => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'])
  t.teardown(() => child.kill('SIGKILL'))
  const watchdog = startWatchdog(child)
  if (watchdog === null) throw new Error('No watchdog was started')
  t.teardown(() => watchdog.kill('SIGKILL'))
  child.kill('SIGKILL')
  await until(() => watchdog.signalCode === 'SIGKILL', 'the watchdog ends')
})
