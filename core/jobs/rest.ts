import fp from 'fastify-plugin'

/** The key of the lock that a process holds while it looks for work in place of a resting scan worker. */
export const RESTING = 'resting scan worker'

/** Work that only a scan worker does. Its state lies in the database, so that another process sees it too. */
export interface WorkSource {
  /** A name for the log. */
  name: string
  /** A channel of the database whose notifications may announce work. */
  channel?: string
  /** True if the scan worker has work now or within a minute. */
  hasWork (): boolean | Promise<boolean>
  /** Returns the time of later work by the clock of the database, in milliseconds. Only the scan worker calls it. */
  findNext? (): number | null | Promise<number | null>
}

/** Tells whether the scan worker may end until there is work (core/supervisor/README.md). */
export interface Rest {
  /** True in a scan worker that replaces a resting one, because everything for the start of a server is done. */
  isWoken: boolean
  addSource (source: WorkSource): void
  /** Returns the name of a source that has work; null if none has. */
  findWork (): Promise<string | null>
  /** Returns the time of the next work that no source would find by itself; null if there is none. */
  findNext (): Promise<number | null>
  /** Returns the channels of all sources. */
  listChannels (): string[]
}

declare module 'fastify' {
  interface FastifyInstance { rest: Rest }
}

export default fp<{ isWoken: boolean }>(async (app, { isWoken }) => {
  const sources: WorkSource[] = []
  app.decorate('rest', {
    isWoken,
    addSource (source) { sources.push(source) },
    async findWork () {
      for (const { name, hasWork } of sources) if (await hasWork()) return name
      return null
    },
    async findNext () {
      const times = await Promise.all(sources.map(async ({ findNext }) => await findNext?.() ?? null))
      const known = times.filter((time) => time !== null)
      return known.length === 0 ? null : Math.min(...known)
    },
    listChannels: () => sources.flatMap(({ channel }) => channel ?? [])
  } satisfies Rest)
}, { name: 'rest', fastify: '5.x' })
