import type { IndexEntry, Logger } from '@svc/plugin-sdk'
import { readXmlRecords, xmlChildren, xmlText } from '@svc/plugin-sdk/xml'
import { createHttpClient } from '../../core/http/client.ts'
import { createMemo } from '../../core/loader/calls/memo.ts'
import { createIndex } from '../../core/loader/search-index/plugin-index.ts'
import { openDb } from '../open-db.ts'
import { type Timing, answer, readPeak, time } from './process.ts'

export interface IndexBuildInput { url: string, databaseUrl: string, records: number, lookups: number }
export interface IndexBuildReport { build: Timing, entries: number, found: number, lookupsPerSecond: number }

const SILENT: Logger = { debug () {}, info () {}, warn () {}, error () {} }
const BATCH = 1_000
/** The keys that a provider looks up for one ROM: its name, the folded name, and an alias. */
const KEYS_OF_A_LOOKUP = 3
/** ROMs that are looked up concurrently, as `scan.workers` allows. */
const LOOKUPS_AT_ONCE = 64

/** Does a provider's and the host's work in a process of its own: download, unzip, parse, store, look up. */
answer<IndexBuildInput, IndexBuildReport>(async ({ url, databaseUrl, records, lookups }) => {
  const { db, close } = await openDb(databaseUrl, 10)
  const client = createHttpClient({ name: 'bench', userAgent: 'Svc/0.0.0', log: SILENT, allowPrivate: true })
  const signal = new AbortController().signal
  const scope = { signal, memo: createMemo(), preferences: { regions: [], languages: [], media: [] } }

  async function * build (): AsyncGenerator<IndexEntry[]> {
    for await (const { chunks } of client.unzip(url, ['Metadata.xml'])) {
      let batch: IndexEntry[] = []
      for await (const record of readXmlRecords(chunks, { maxBytes: Infinity })) {
        const value = Object.fromEntries(xmlChildren(record).map((child) => [child.name, xmlText(child)]))
        batch.push([`${value.Name?.toLowerCase()}:${value.Platform}`, value])
        if (batch.length < BATCH) continue
        yield batch
        batch = []
      }
      yield batch
    }
  }
  const index = createIndex(db, 'provider/bench', build, () => scope)

  async function lookUpAll (): Promise<number> {
    let left = lookups
    let found = 0
    const pickKey = () => `game ${Math.floor(Math.random() * records)}:Console`
    async function run (): Promise<void> {
      while (left-- > 0) {
        const { size } = await index.getMany(Array.from({ length: KEYS_OF_A_LOOKUP }, pickKey))
        found += size
      }
    }
    await Promise.all(Array.from({ length: LOOKUPS_AT_ONCE }, run))
    return found
  }

  let entries = 0
  let found = 0
  const building = await time(async () => { entries = await index.rebuild(scope) })
  const peakMib = readPeak(process.pid)
  const looking = await time(async () => { found = await lookUpAll() })
  await client.close()
  await close()
  return { build: { ...building, peakMib }, entries, found, lookupsPerSecond: lookups / looking.seconds }
})
