import type { FeaturePlugin } from '../../core/feature.ts'
import { countTasks, hasUnfinished } from './rows.ts'
import { createTasks } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { tasks: ReturnType<typeof createTasks> }
}

/** Interval at which a worker looks for tasks of dead workers. */
const RECOVER_MS = 30_000

const plugin: FeaturePlugin = async (app, { config, role }) => {
  app.decorate('tasks', createTasks(app, config))
  app.metrics.commonGauge({
    name: 'svc_tasks', help: 'Waiting and running scans and other tasks', labelNames: ['type', 'status']
  }, async () =>
    (await countTasks(app.db)).map(({ type, status, count }) => ({ labels: { type, status }, value: count })))
  app.rest.addSource({ name: 'tasks', hasWork: () => hasUnfinished(app.db) })

  if (role !== 'worker') return
  let timer: NodeJS.Timeout | undefined
  let isClosing = false
  app.addHook('onReady', async () => {
    await app.tasks.recover()
    await app.tasks.schedule()
    // A start that takes too long is closed before this hook ends.
    if (isClosing) return
    timer = setInterval(() => {
      app.tasks.recover().catch((err: unknown) => { app.log.warn({ err }, 'lost tasks could not be looked for') })
    }, RECOVER_MS)
  })
  // This runs before the queue waits for its jobs to end.
  app.addHook('preClose', async () => {
    isClosing = true
    clearInterval(timer)
    app.tasks.stopAll()
  })
}

export default plugin
