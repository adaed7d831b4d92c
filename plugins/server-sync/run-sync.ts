import type { FastifyInstance } from 'fastify'
import { withoutDateTag } from '../assets/base-rows.ts'
import { decidePairs } from '../sync/decide-pairs.ts'
import type { Counts } from '../sync/entities.ts'
import type { AssetRow } from '../sync/rows.ts'
import { type MatchedSave, matchSave, toListing, withoutCopies } from './list-files.ts'
import { type Candidate, selectCandidates } from './rows.ts'
import { type Run, scopeOf } from './run.ts'
import { type TransferResult, syncSave } from './sync-save.ts'
import { writeToDevice } from './transfer-save.ts'
import type { DeviceSave } from './transport.ts'

/** Counts and errors of a run. */
export interface RunResult extends Counts { errors: string[] }

/** A save of the device, and the hash of its content as far as it was read. */
interface ReadSave { matched: MatchedSave, hash: string | null }

const ERRORS_MAX = 20

const describe = (name: string, err: unknown) => `${name}: ${err instanceof Error ? err.message : String(err)}`

/** Lists the server's saves of these ROMs that the device lacks and should have. */
async function listMissing (
  { db }: FastifyInstance, run: Run, candidates: readonly Candidate[], files: readonly ReadSave[]
): Promise<{ asset: AssetRow, candidate: Candidate }[]> {
  const romIds = [...new Set(candidates.map((one) => one.rom_id))]
  const pairs = await decidePairs(db, toListing(files, romIds), scopeOf(run, romIds), 'both')
  return pairs.flatMap(({ file, asset, decision }) => {
    const candidate = candidates.find((one) => one.rom_id === asset?.rom_id)
    return file === null && asset !== null && decision.action === 'download' && candidate !== undefined
      ? [{ asset, candidate }]
      : []
  })
}

/**
 * Syncs the device's saves. If the transport supports it, missing saves are written to the device too.
 *
 * @throws an error that ended the whole run
 */
export async function runSync (
  app: FastifyInstance, run: Run, saves: readonly DeviceSave[], platforms: readonly string[]
): Promise<RunResult> {
  const { session, caller, transport, signal } = run
  const { runs } = app.sync
  const counts = { operations_completed: 0, operations_failed: 0 }
  const errors: string[] = []
  const files: ReadSave[] = []

  async function attempt (name: string, work: () => Promise<TransferResult>): Promise<void> {
    signal.throwIfAborted()
    try {
      const outcome = await work()
      if (outcome === 'nothing') return
      if (outcome === 'done') counts.operations_completed++
      else counts.operations_failed++
    } catch (err) {
      signal.throwIfAborted()
      if (!transport.isOpen()) throw err
      counts.operations_failed++
      if (errors.length < ERRORS_MAX) errors.push(describe(name, err))
      app.log.warn({ err, device: run.device.device_id, file: name }, 'a save could not be synced')
    }
    await runs.progress(session, counts, saves.length, name)
  }

  await runs.plan(session, saves.length)
  const candidates = await selectCandidates({ db: app.db, caller }, platforms)
  const matching = saves.flatMap((save) => {
    const candidate = matchSave(save, candidates)
    return candidate === null ? [] : [{ save, candidate }]
  })
  // Files of a folder are uploads, which follow each other; those of a device lie side by side.
  for (const matched of transport.offersMissing ? withoutCopies(matching) : matching) {
    const file: ReadSave = { matched, hash: null }
    files.push(file)
    await attempt(matched.save.file_name, async () => {
      const { hash, outcome } = await syncSave(app, run, file.matched)
      file.hash = hash
      return outcome
    })
  }
  if (!transport.offersMissing) return { ...counts, errors }
  for (const { asset, candidate } of await listMissing(app, run, candidates, files)) {
    await attempt(withoutDateTag(asset.file_name), async () =>
      await writeToDevice(app, run, { asset, candidate, replaces: null }) ? 'done' : 'nothing')
  }
  return { ...counts, errors }
}
