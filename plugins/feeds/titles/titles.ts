import { JSONParser } from '@streamparser/json'
import { type IndexEntry, ServiceDownError } from '@svc/plugin-sdk'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { createHttpClient } from '../../../core/http/client.ts'
import type { CallScope } from '../../../core/loader/calls/call-scope.ts'
import { readPreferences } from '../../../core/loader/context.ts'
import { createMemo } from '../../../core/loader/calls/memo.ts'
import { createIndex } from '../../../core/loader/search-index/plugin-index.ts'
import { USER_AGENT } from '../../../core/loader/services.ts'
import { tasksConfig } from '../../tasks/config.ts'
import { defineTask } from '../../tasks/define-task.ts'
import { type Title, isShopId, toIndexEntries } from './title.ts'

/** An object of all titles by shop id, with a size of some hundred megabytes. */
const SOURCE = 'https://raw.githubusercontent.com/blawar/titledb/master/US.en.json'
const SOURCE_MAX_BYTES = 1024 ** 3
const TIMEOUT_SECONDS = 60 * 60
const ArgumentsSchema = Type.Object({
  force: Type.Optional(Type.Boolean({
    default: false,
    description: 'Without effect: a manual run always downloads the table, even with the schedule off'
  }))
}, { additionalProperties: false })

/** Yields the entries of the database, which is never in memory as a whole. */
async function * readEntries (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<IndexEntry[]> {
  const parser = new JSONParser({ paths: ['$.*'], keepStack: false })
  let entries: IndexEntry[] = []
  parser.onValue = ({ value }) => { entries.push(...toIndexEntries(value)) }
  for await (const chunk of chunks) {
    parser.write(chunk)
    yield entries
    entries = []
  }
  if (!parser.isEnded) throw new ServiceDownError('The download of the Switch title database is incomplete; try again later')
}

/** The last downloaded titles of the Switch. */
export function createTitles (app: FastifyInstance, config: Config) {
  async function * download ({ signal }: CallScope): AsyncGenerator<IndexEntry[]> {
    const { log } = app
    const http = createHttpClient({ name: 'switch-titledb', userAgent: USER_AGENT, log, gateway: config.outgoing.gateway })
    try {
      yield * readEntries(http.withSignal(signal).stream(SOURCE, { maxBytes: SOURCE_MAX_BYTES }))
    } finally {
      await http.close()
    }
  }

  const scopeOf = (signal: AbortSignal): CallScope =>
    ({ signal, memo: createMemo(), preferences: readPreferences(config) })
  const index = createIndex(app.db, 'feeds/switch-titles', download, () => scopeOf(AbortSignal.abort(
    new Error('Only its task downloads the Switch title database'))))

  const task = defineTask({
    name: 'update_switch_titledb',
    title: 'Scheduled Switch TitleDB update',
    description: 'Downloads the Switch titles that the feed for Tinfoil contains',
    type: 'update',
    enabled: tasksConfig.of(config).update_switch_titledb,
    cron_string: tasksConfig.of(config).update_switch_titledb_cron,
    timeoutSeconds: TIMEOUT_SECONDS,
    arguments: ArgumentsSchema,
    async run ({ signal, report }) {
      await report({ update_stats: { processed: 0, total: 1 } })
      const count = await index.rebuild(scopeOf(signal))
      if (count === 0) throw new ServiceDownError('The downloaded Switch title database has no titles; the former one stays in use')
      await report({ update_stats: { processed: count, total: count } })
    }
  })

  return {
    task,

    /** Returns the titles with these shop or product ids, by shop id; none until the task has run. */
    async find (ids: readonly string[]): Promise<Map<string, Title>> {
      if (ids.length === 0 || await index.builtAt() === undefined) return new Map()
      const shopIds = await index.getMany(ids.filter((id) => !isShopId(id)))
      const keys = [...ids.filter(isShopId), ...[...shopIds.values()].flat().map(String)]
      const found = await index.getMany(keys)
      return new Map([...found].flatMap(([id, [title]]) => title === undefined ? [] : [[id, title as Title]]))
    }
  }
}
export type Titles = ReturnType<typeof createTitles>
