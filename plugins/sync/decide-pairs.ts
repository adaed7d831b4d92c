import type { Db } from '../../core/database/db.ts'
import { selectVisibleRoms } from '../roms/visible-rows.ts'
import type { Direction } from './decide.ts'
import type { Listing } from './read-listing.ts'
import type { Pair } from './pair.ts'
import { createPairs } from './pairing/create-pairs.ts'
import {
  type AssetRow, type Scope, listBases, selectAssets, selectBases, selectFormer, upsertBases, upsertDeviceSyncs
} from './rows.ts'

/**
 * Pairs the files of a device with the server's and decides about each. The number of queries does not depend on the
 * number of files.
 */
export async function decidePairs (
  db: Db, listing: Listing, scope: Scope, direction: Direction
): Promise<readonly Pair[]> {
  const [assets, bases] = await Promise.all([selectAssets(db, scope), selectBases(db, scope, listing.key_start)])
  const pairs = createPairs(listing, assets, bases)
  const open = pairs.listOpen()
  if (open.length > 0) {
    const romIds = [...new Set(open.map((pair) => pair.rom_id))]
    const hashes = [...new Set(open.flatMap(({ file }) => file?.hash ?? []))]
    const [former, visible] = await Promise.all([
      selectFormer(db, scope, romIds, hashes), selectVisibleRoms({ db, caller: scope.caller }, romIds)
    ])
    pairs.decideAgain(open, former, visible)
  }
  return pairs.finish(direction)
}

/** Lists the new bases and device syncs that are not stored yet. */
function listNewBases (pairs: readonly Pair[]) {
  const newBases: AssetRow[] = []
  const deviceSyncs = new Map<number, { asset_id: number, sha1: string }>()
  for (const { asset, base, decision: { newBase } } of pairs) {
    if (asset === null || newBase === null) continue
    const isStored = base?.sha1 === newBase.sha1 && base.updated_at >= newBase.updated_at
    if (!isStored) newBases.push({ ...asset, ...newBase })
    const isUpToDate = newBase.sha1 === asset.sha1 && (asset.last_synced_at ?? 0) < asset.updated_at
    if (isUpToDate) deviceSyncs.set(asset.id, { asset_id: asset.id, sha1: asset.sha1 })
  }
  return { bases: listBases(newBases), deviceSyncs: [...deviceSyncs.values()] }
}

/** Stores the bases that the decisions established between a device and the server. */
export async function storeBases (tx: Db, deviceId: number, pairs: readonly Pair[]): Promise<void> {
  const { bases, deviceSyncs } = listNewBases(pairs)
  await upsertDeviceSyncs(tx, deviceId, deviceSyncs)
  await upsertBases(tx, deviceId, bases)
}
