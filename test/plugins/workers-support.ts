import { pino } from 'pino'
import type { Test } from 'tap'
import { buildApp } from '../../core/app.ts'
import type { App } from '../../core/typebox.ts'
import { features } from '../../plugins/index.ts'
import type { TestApp } from '../support.ts'
import { until } from '../until.ts'

/** A further web worker on a test's database, without plugins. */
export const buildWorker = ({ config, databaseUrl }: TestApp, workerNumber: number): Promise<App> => buildApp({
  config, role: 'web', databaseUrl, logger: pino({ level: 'silent' }), features, workerNumber, packages: []
})

/** Waits until so many workers hear each other's events. */
export async function untilConnected ({ app }: Pick<TestApp, 'app'>, workers: number): Promise<void> {
  const further = app.sockets.listEndpoints().map((endpoint) => endpoint.of('/'))
  for (const { adapter } of [...further, app.sockets.main.of('/devices')]) {
    await until(async () => await adapter.serverCount() === workers, 'the workers know each other')
  }
}

/** A second web worker; both listen and hear each other. */
export async function startSecondWorker (t: Pick<Test, 'teardown'>, test: TestApp): Promise<App> {
  const other = await buildWorker(test, 2)
  t.teardown(() => other.close())
  await other.ready()
  for (const one of [test.app, other]) await one.listen({ port: 0, host: '127.0.0.1' })
  await untilConnected(test, 2)
  return other
}
