import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { conflict } from '../../core/errors.ts'
import { withoutDateTag } from '../assets/base-rows.ts'
import type { StagedFile } from '../assets/asset-files.ts'
import type { Device } from '../devices/entities.ts'
import type { SessionName } from '../sync/session-name.ts'
import type { Pair } from '../sync/pairs.ts'
import type { AssetRow, Scope } from '../sync/rows.ts'
import { type Candidate, type Counts, selectCandidates } from '../sync/server-session-rows.ts'
import { RESOLUTIONS, type Resolution } from '../sync/schemas.ts'
import { storeBases, decidePairs } from '../sync/decide-pairs.ts'
import { type MatchedSave, matchSave, toListing } from './list-files.ts'
import type { DeviceSave, Transport } from './transport.ts'

/** The parts of one sync run. */
export interface Run {
  session: SessionName
  device: Device
  /** The device's owner. */
  caller: Caller
  transport: Transport
  signal: AbortSignal
}

/** Counts and errors of a run. */
export interface RunResult extends Counts { errors: string[] }

/** Result of a transfer: done, left to a person as a conflict, or nothing to do. */
type TransferResult = 'done' | 'disputed' | 'nothing'

const ERRORS_MAX = 20

/** Returns how conflicts are resolved; null if the owner did not choose, which leaves conflicts to a person. */
function resolutionOf ({ sync_config: config }: Device): Resolution | null {
  return RESOLUTIONS.find((one) => one === config?.conflict_resolution) ?? null
}

const describe = (name: string, err: unknown) => `${name}: ${err instanceof Error ? err.message : String(err)}`

/** Creates a function that carries out the operations of a negotiation for a device. */
export function createRunner (app: FastifyInstance) {
  const { runs } = app.sync

  const scopeOf = ({ caller, device }: Run, romIds: readonly number[]): Scope => ({
    user_id: caller.id, device_id: device.id, caller, kinds: ['save'], rom_ids: romIds, includes_known: false
  })

  /**
   * Writes the server's content to the device and stores it as their base.
   *
   * @returns false if the device has no folder for it
   */
  async function writeToDevice (
    db: Db, { caller, device, transport }: Run, asset: AssetRow, to: Candidate, replaces: DeviceSave | null
  ): Promise<boolean> {
    const { row, content: { handle } } = await app.assets.open({ db, caller }, 'save', asset.id)
    const target = {
      platforms: [to.fs_slug, to.slug], file_name: replaces?.file_name ?? withoutDateTag(asset.file_name), replaces
    }
    const stream = handle.createReadStream()
    try {
      if (!await transport.write(target, stream)) return false
    } finally {
      stream.destroy()
    }
    await app.assets.changes.confirm({ db, caller }, 'save', asset.id, { device_id: device.device_id, sha1: row.sha1 })
    return true
  }

  async function upload (
    db: Db, { caller, device }: Run, pair: Pair, save: DeviceSave, staged: StagedFile, conflictOf?: number
  ): Promise<void> {
    const { asset, is_replaceable: isReplaceable } = pair
    const input = {
      rom_id: pair.rom_id,
      device_id: device.device_id,
      mtime: new Date(save.changed_at).toISOString(),
      ...(asset?.emulator === null || asset === null ? {} : { emulator: asset.emulator })
    }
    const uploadOptions = conflictOf !== undefined
      ? { conflict_of: conflictOf }
      : asset !== null && isReplaceable
        ? { expected_sha1: asset.sha1, overwrite: true, ...(asset.slot === null ? {} : { slot: asset.slot }) }
        : {}
    await app.assets.upload({ db, caller }, 'save', { ...input, ...uploadOptions }, staged, null)
  }

  async function resolve (
    db: Db, run: Run, pair: Pair, { save, candidate }: MatchedSave, staged: StagedFile
  ): Promise<TransferResult> {
    const { asset, decision: { reason } } = pair
    const resolution = resolutionOf(run.device)
    if (asset === null || resolution === null) {
      runs.conflict(run.session, {
        file_name: save.file_name, rom_id: pair.rom_id, rom_name: candidate.rom_name, reason
      })
      await run.transport.onConflict?.(save)
      return 'disputed'
    }
    if (resolution === 'device_wins') {
      await upload(db, run, pair, save, staged)
    } else {
      if (resolution === 'keep_both') await upload(db, run, pair, save, staged, asset.id)
      else await app.assets.changes.addVersion({ db, caller: run.caller }, 'save', asset.id, staged, new Date(save.changed_at))
      await writeToDevice(db, run, asset, candidate, save)
    }
    await run.transport.onSynced?.(save)
    return 'done'
  }

  async function applyDecision (
    db: Db, run: Run, pair: Pair, matched: MatchedSave, staged: StagedFile
  ): Promise<TransferResult> {
    const { asset, decision: { action } } = pair
    if (action === 'conflict') return await resolve(db, run, pair, matched, staged)
    if (action === 'upload') await upload(db, run, pair, matched.save, staged)
    else if (action === 'download' && asset !== null) await writeToDevice(db, run, asset, matched.candidate, matched.save)
    else await inTransaction(db, (tx) => storeBases(tx, run.device.id, [pair]))
    // The owner excluded this save from sync, so the device's file may be the only copy.
    if (asset?.is_untracked !== true) await run.transport.onSynced?.(matched.save)
    return 'done'
  }

  /** @returns the hash of the content as well */
  async function syncOne (run: Run, matched: MatchedSave): Promise<{ hash: string, outcome: TransferResult }> {
    const { caller, transport } = run
    const { save, candidate } = matched
    const db = app.db
    const staged = await app.assets.stage(db, caller.id, save.file_name, await transport.open(save))
    try {
      if (!await transport.isSame(save)) throw conflict('it changed while it was read; the next sync transfers it')
      const listing = toListing([{ matched, hash: staged.sha1 }], [candidate.rom_id])
      const pairs = await decidePairs(db, listing, scopeOf(run, [candidate.rom_id]), 'both')
      const pair = pairs.find(({ file }) => file !== null)
      if (pair === undefined) throw conflict('the save does not exist on the server any more')
      return { hash: staged.sha1, outcome: await applyDecision(db, run, pair, matched, staged) }
    } finally {
      await staged.discard()
    }
  }

  /** Lists the server's saves of these ROMs that the device lacks and should have. */
  async function listMissing (
    run: Run, candidates: readonly Candidate[], files: readonly { matched: MatchedSave, hash: string | null }[]
  ): Promise<{ asset: AssetRow, to: Candidate }[]> {
    const romIds = [...new Set(candidates.map((one) => one.rom_id))]
    const db = app.db
    const pairs = await decidePairs(db, toListing(files, romIds), scopeOf(run, romIds), 'both')
    return pairs.flatMap(({ file, asset, decision }) => {
      const to = candidates.find((one) => one.rom_id === asset?.rom_id)
      return file === null && asset !== null && decision.action === 'download' && to !== undefined ? [{ asset, to }] : []
    })
  }

  /**
   * Syncs the device's saves. If the transport supports it, missing saves are written to the device too.
   *
   * @throws an error that ended the whole run
   */
  return async function run (run: Run, saves: readonly DeviceSave[], platforms: readonly string[]): Promise<RunResult> {
    const { session, caller, transport, signal } = run
    const counts = { operations_completed: 0, operations_failed: 0 }
    const errors: string[] = []
    const files: { matched: MatchedSave, hash: string | null }[] = []

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
    for (const save of saves) {
      const candidate = matchSave(save, candidates)
      if (candidate === null) continue
      const file: typeof files[number] = { matched: { save, candidate }, hash: null }
      files.push(file)
      await attempt(save.file_name, async () => {
        const { hash, outcome } = await syncOne(run, file.matched)
        file.hash = hash
        return outcome
      })
    }
    if (!transport.offersMissing) return { ...counts, errors }
    for (const { asset, to } of await listMissing(run, candidates, files)) {
      await attempt(withoutDateTag(asset.file_name), async () =>
        await writeToDevice(app.db, run, asset, to, null) ? 'done' : 'nothing')
    }
    return { ...counts, errors }
  }
}
export type Runner = ReturnType<typeof createRunner>
