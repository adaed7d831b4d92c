import { type Command, runSvc } from '../e2e/server.ts'
import type { Test } from 'tap'
import { until } from '../until.ts'
import { WAIT_MS } from './server.ts'

/** A process of a host that is started again whenever it ends, as by `restart: unless-stopped` of Docker. */
export interface Host {
  /** The running process, or the last one. */
  command (): Command
  /** The number of starts so far. */
  starts (): number
  /** Ends the process by SIGTERM and starts it again, from the folder of another release if there is one. */
  replace (home?: string): Promise<void>
  /** Ends the process for good. */
  stop (): Promise<void>
}

/** Starts `svc web` or `svc worker`, and waits until it is ready. */
export async function startHost (
  t: Pick<Test, 'teardown'>, role: 'web' | 'worker', env: Record<string, string>, firstHome?: string
): Promise<Host> {
  let isStopped = false
  let home = firstHome
  let starts = 0
  const start = () => {
    starts++
    const command = runSvc(t, [role], env, home)
    command.ended.then(() => { if (!isStopped) current = start() }, () => { /* the test reports it */ })
    return command
  }
  let current = start()
  const isReady = () => current.output().includes(`svc ${role} is ready`)
  await until(isReady, `svc ${role}`, { output: () => current.output(), ms: WAIT_MS })

  async function end (): Promise<void> {
    const ending = current
    ending.child.kill('SIGTERM')
    await ending.ended
  }
  t.teardown(() => { isStopped = true })
  return {
    command: () => current,
    starts: () => starts,
    async replace (nextHome) {
      home = nextHome ?? home
      const former = current
      await end()
      await until(() => current !== former && isReady(), `the next svc ${role}`, { output: () => current.output(), ms: WAIT_MS })
    },
    async stop () {
      isStopped = true
      await end()
    }
  }
}
