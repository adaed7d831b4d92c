import { pino } from 'pino'
import type { Test } from 'tap'
import { buildApp } from '../../../core/app.ts'
import { createHostId } from '../../../core/process/host.ts'
import type { App } from '../../../core/typebox.ts'
import { features } from '../../../plugins/index.ts'
import type { TestApp } from '../../support.ts'
import { until } from '../../until.ts'

/** Builds a further web worker on a test's database, without plugins. */
export const buildWorker = (
  { config, databaseUrl }: TestApp, workerNumber: number, hostId = createHostId()
): Promise<App> => buildApp({
  config, role: 'web', databaseUrl, logger: pino({ level: 'silent' }), features, workerNumber, hostId, packages: []
})

/** Waits until this many workers receive each other's events. Only web workers have the further endpoints. */
export async function untilConnected ({ app }: Pick<TestApp, 'app'>, workers: number, webWorkers = workers): Promise<void> {
  const { main } = app.sockets
  for (const endpoint of app.sockets.listEndpoints()) {
    const count = endpoint === main ? workers : webWorkers
    await until(async () => await endpoint.of('/').adapter.serverCount() === count, 'the workers know each other')
  }
  await until(async () => await main.of('/devices').adapter.serverCount() === workers, 'the workers know each other')
}

/** Starts a second web worker. Both listen and receive each other's events. */
export async function startSecondWorker (t: Pick<Test, 'teardown'>, test: TestApp): Promise<App> {
  const other = await buildWorker(test, 2)
  t.teardown(() => other.close())
  await other.ready()
  for (const one of [test.app, other]) await one.listen({ port: 0, host: '127.0.0.1' })
  await untilConnected(test, 2)
  return other
}
