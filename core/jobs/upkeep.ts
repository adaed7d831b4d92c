import fp from 'fastify-plugin'

/** Cheap work that one process of a host repeats, also while the scan worker rests. */
export interface Upkeep {
  /** True in the first web worker of `svc start`, and in a scan worker that runs alone. */
  isHere: boolean
  /** Repeats work at an interval, if this is the process for it. @param failure the log message if the work fails */
  repeat (intervalMs: number, work: () => Promise<unknown>, failure: string): void
}

declare module 'fastify' {
  interface FastifyInstance { upkeep: Upkeep }
}

export default fp<{ isHere: boolean }>(async (app, { isHere }) => {
  app.decorate('upkeep', {
    isHere,
    repeat (intervalMs, work, failure) {
      if (!isHere) return
      const timer = setInterval(() => {
        work().catch((err: unknown) => { app.log.warn({ err }, failure) })
      }, intervalMs)
      app.addHook('onClose', async () => { clearInterval(timer) })
    }
  } satisfies Upkeep)
}, { name: 'upkeep', fastify: '5.x' })
