import PQueue from 'p-queue'
import type { Db } from '../../../core/database/db.ts'
import { createBatcher } from '../batcher.ts'
import type { PartLeases } from '../parts/part-leases.ts'
import type { ScanChoice } from '../../matching/scan-types.ts'
import type { DueRom, LoadedRom } from './due-rom.ts'
import type { MatchWriter } from './store-matches.ts'
import type { IdentifyRom, IdentifiedRom } from './identify-rom.ts'
import { isPictureFile } from '../../matching/embedded-cover.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import { loadStoredRoms } from '../../matching/stored-rows.ts'
import type { Titles } from '../../matching/titles.ts'

interface IdentificationServices {
  choice: ScanChoice
  db: Db
  /** The number of ROMs that are looked up at once. */
  workers: number
  titles: Titles
  identifyRom: IdentifyRom
  matchWriter: MatchWriter
  parts: Pick<PartLeases, 'of'>
  signal: AbortSignal
}

/** The lookups of this many ROMs are written together, or those of this many milliseconds. */
const WRITE_MAX = 200
const WRITE_DELAY_MS = 250
const UNWRITTEN_MAX = 1_000
/** The number of ROMs whose rows and files are read together before their lookups. */
const LOAD_MAX = 200

/**
 * Identifies all ROMs of a scan, many at once. Each ROM is loaded, looked up and merged (`identify-rom.ts`), then
 * stored (`store-matches.ts`). A lookup asks all providers about one ROM (`matching/rom-lookup.ts`), each in its own
 * queue (`matching/provider-lookup.ts`).
 */
export function createIdentification (services: IdentificationServices) {
  const { choice, db, workers, titles, identifyRom, matchWriter, parts, signal } = services
  // Each provider limits itself in its own queue. This limit only bounds the ROMs that wait in memory for the slowest
  // one. It must be far above what all providers process at once, because otherwise a paused provider stops the others.
  const pipeline = new PQueue({ concurrency: workers })
  const batcher = createBatcher(matchWriter.write, { max: WRITE_MAX, delayMs: WRITE_DELAY_MS })
  let unwritten = 0

  async function load (due: readonly DueRom[], platform: ScannedPlatform): Promise<LoadedRom[]> {
    const stored = await loadStoredRoms(db, due.map((rom) => rom.id))
    const titlesOf = await titles([...stored.values()].map(({ rom }) => rom), platform.slug)
    return due.flatMap((dueRom) => {
      const storedRom = stored.get(dueRom.id)
      return storedRom === undefined ? [] : [{ ...storedRom, due: dueRom, platform, titles: titlesOf(storedRom.rom) }]
    })
  }

  /** Queues a match for the next batch. Waits only if the database cannot keep up, not until the batch is full. */
  async function storeMatch (outcome: IdentifiedRom, end: () => void): Promise<void> {
    unwritten++
    const writing = batcher.add(outcome)
      .catch((err: unknown) => { if (!signal.aborted) matchWriter.reportNotStored(outcome, err) })
      .finally(() => {
        unwritten--
        end()
      })
    if (unwritten > UNWRITTEN_MAX) await writing
  }

  function queue (rom: LoadedRom): void {
    const end = parts.of(rom.platform).begin()
    pipeline.add(async () => { await storeMatch(await identifyRom(rom), end) }, { signal }).catch((err: unknown) => {
      if (!signal.aborted) matchWriter.reportNotStored(rom, err)
      end()
    })
  }

  /**
   * True if the ROM needs work. Even without a provider, a complete scan clears matches and a cartridge gives its own
   * cover.
   */
  const isWorthwhile = ({ fs_name: name }: DueRom) =>
    choice.selected.length > 0 || choice.type === 'complete' || isPictureFile(name)

  return {
    /** Queues lookups; waits while too many are running, so that the disk never runs far ahead of the providers. */
    async add (due: readonly DueRom[], platform: ScannedPlatform): Promise<void> {
      const worthwhile = due.filter(isWorthwhile)
      for (let start = 0; start < worthwhile.length; start += LOAD_MAX) {
        await pipeline.onSizeLessThan(LOAD_MAX)
        signal.throwIfAborted()
        for (const rom of await load(worthwhile.slice(start, start + LOAD_MAX), platform)) queue(rom)
      }
    },

    /**
     * Waits until all queued ROMs are looked up and written and their artwork is fetched; after a stop, until the
     * finished lookups are stored.
     */
    async finish (): Promise<void> {
      await pipeline.onIdle()
      await batcher.flush()
      await matchWriter.finish()
    }
  }
}
