import type { Index } from '@svc/plugin-sdk'
import type { Db } from '../../database/db.ts'
import { PluginAnswerError } from '../calls/answer-error.ts'
import type { CallScope } from '../calls/call-scope.ts'
import { type ReadIndexEntries, buildIndex } from './index-build.ts'
import { type IndexRows, isReplaced, isUsable, readCurrent, selectRows, tableOf } from './index-table.ts'

export interface HostIndex extends Index {
  /** Builds a new index and replaces the former one, unless it is empty. @returns the number of entries */
  rebuild (scope: CallScope): Promise<number>
}

/** The most keys of one query. Lookups that wait meanwhile share the next query. */
const KEYS_MAX = 1_000
/** The most table swaps in a row between finding the table's name and the query. */
const SWAPS_MAX = 20

interface WaitingLookup { keys: readonly string[], resolve (rows: IndexRows): void, reject (err: unknown): void }

/** The index of a plugin that declares none. */
export const NO_INDEX: HostIndex = {
  getMany: async () => { throw new Error('This plugin declares no index; add one to its definition to use ctx.index') },
  builtAt: async () => undefined,
  rebuild: async () => 0
}

/** Removes as many lookups from the list as fit into one query. */
function takeBatch (waiting: WaitingLookup[]): WaitingLookup[] {
  let keys = 0
  const end = waiting.findIndex((one) => (keys += one.keys.length) > KEYS_MAX)
  return waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end))
}

/** Creates the function that looks keys up. Lookups that arrive during a query share the next one. */
function createLookup (select: (keys: readonly string[]) => Promise<IndexRows>): Index['getMany'] {
  const waiting: WaitingLookup[] = []
  let isAnswering = false

  async function answerWaiting (): Promise<void> {
    isAnswering = true
    while (waiting.length > 0) {
      const batch = takeBatch(waiting)
      try {
        const rows = await select([...new Set(batch.flatMap(({ keys }) => keys))])
        for (const { keys, resolve } of batch) {
          resolve(new Map(keys.flatMap((key) => rows.has(key) ? [[key, rows.get(key) ?? []]] : [])))
        }
      } catch (err) {
        for (const { reject } of batch) reject(err)
      }
    }
    isAnswering = false
  }

  return (keys) => new Promise((resolve, reject) => {
    waiting.push({ keys: keys.filter(isUsable), resolve, reject })
    if (!isAnswering) void answerWaiting()
  })
}

/**
 * Creates a plugin's local index. Each build has its own table: lookups continue on the former one while the new one is
 * filled, and the next build drops the table of a killed one.
 *
 * @param scopeOfFirst the scope of the first build, which starts at the first lookup
 */
export function createIndex (
  db: Db, plugin: string, readEntries: ReadIndexEntries, scopeOfFirst: () => CallScope
): HostIndex {
  let building: Promise<number> | null = null
  /** The table that was current at the last lookup. */
  let table: string | null = null

  function rebuild (scope: CallScope): Promise<number> {
    building ??= buildIndex(db, plugin, readEntries, scope).finally(() => { building = null })
    return building
  }

  async function findTable (): Promise<string> {
    const current = await readCurrent(db, plugin)
    if (current !== null) return tableOf(current.generation)
    await rebuild(scopeOfFirst())
    const built = await readCurrent(db, plugin)
    if (built === null) throw new PluginAnswerError(`The index of ${plugin} is empty, because its build returned no entry; check the configuration of the plugin`)
    return tableOf(built.generation)
  }

  async function select (keys: readonly string[], retries: number): Promise<IndexRows> {
    table ??= await findTable()
    try {
      return await selectRows(db, table, keys)
    } catch (err) {
      if (!isReplaced(err) || retries === 0) throw err
      table = null
      return await select(keys, retries - 1)
    }
  }

  return {
    rebuild,
    getMany: createLookup((keys) => select(keys, SWAPS_MAX)),
    builtAt: async () => (await readCurrent(db, plugin))?.built_at.getTime()
  }
}
