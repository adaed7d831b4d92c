import type { FastifyInstance } from 'fastify'
import { inTransaction } from '../../core/database/transaction.ts'
import { conflict } from '../../core/errors.ts'
import type { Device } from '../devices/entities.ts'
import { decidePairs, storeBases } from '../sync/decide-pairs.ts'
import { RESOLUTIONS, type Resolution } from '../sync/schemas.ts'
import { type MatchedSave, toListing } from './list-files.ts'
import { type Run, scopeOf } from './run.ts'
import { type DecidedSave, uploadFromDevice, writeToDevice } from './transfer-save.ts'

/** Result of a transfer: done, left to a person as a conflict, or nothing to do. */
export type TransferResult = 'done' | 'conflict' | 'nothing'

/** Returns how conflicts are resolved; null if the owner did not choose, which leaves conflicts to a person. */
function resolutionOf ({ sync_config: config }: Device): Resolution | null {
  return RESOLUTIONS.find((one) => one === config?.conflict_resolution) ?? null
}

async function resolve (app: FastifyInstance, run: Run, decided: DecidedSave): Promise<TransferResult> {
  const { pair: { rom_id: romId, asset, decision: { reason } }, matched: { save, candidate }, staged } = decided
  const resolution = resolutionOf(run.device)
  if (asset === null || resolution === null) {
    app.sync.runs.conflict(run.session, {
      file_name: save.file_name, rom_id: romId, rom_name: candidate.rom_name, reason
    })
    await run.transport.onConflict?.(save)
    return 'conflict'
  }
  if (resolution === 'device_wins') {
    await uploadFromDevice(app, run, decided)
  } else {
    const ref = { kind: 'save', id: asset.id } as const
    const from = { client_mtime: new Date(save.changed_at), device_id: run.device.id }
    if (resolution === 'keep_both') await uploadFromDevice(app, run, decided, asset.id)
    else await app.assets.changes.addVersion({ db: app.db, caller: run.caller }, ref, staged, from)
    await writeToDevice(app, run, { asset, candidate, replaces: save })
  }
  await run.transport.onSynced?.(save)
  return 'done'
}

async function applyDecision (app: FastifyInstance, run: Run, decided: DecidedSave): Promise<TransferResult> {
  const { pair, matched: { save, candidate } } = decided
  const { asset, decision: { action } } = pair
  if (action === 'conflict') return await resolve(app, run, decided)
  if (action === 'upload') await uploadFromDevice(app, run, decided)
  else if (action === 'download' && asset !== null) await writeToDevice(app, run, { asset, candidate, replaces: save })
  else await inTransaction(app.db, (tx) => storeBases(tx, run.device.id, [pair]))
  // The owner excluded this save from sync, so the device's file may be the only copy.
  if (asset?.is_untracked !== true) await run.transport.onSynced?.(save)
  return 'done'
}

/** Syncs one save of the device. @returns the hash of the content as well */
export async function syncSave (
  app: FastifyInstance, run: Run, matched: MatchedSave
): Promise<{ hash: string, outcome: TransferResult }> {
  const { caller, transport } = run
  const { save, candidate } = matched
  const { db } = app
  const staged = await app.assets.stage(db, caller.id, save.file_name, await transport.open(save))
  try {
    if (!await transport.isSame(save)) throw conflict('it changed while it was read; the next sync transfers it')
    const listing = toListing([{ matched, hash: staged.sha1 }], [candidate.rom_id])
    const pairs = await decidePairs(db, listing, scopeOf(run, [candidate.rom_id]), 'both')
    const pair = pairs.find(({ file }) => file !== null)
    if (pair === undefined) throw conflict('the save does not exist on the server any more')
    return { hash: staged.sha1, outcome: await applyDecision(app, run, { pair, matched, staged }) }
  } finally {
    await staged.discard()
  }
}
