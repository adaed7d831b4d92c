import { type Decision, decide, limitDirection } from '../../sync/decide.ts'
import type { DeviceContext } from '../acting-device.ts'
import { type CurrentAsset, selectFormer } from '../rows.ts'
import type { DeviceState } from './list-entry.ts'

/**
 * Decides about content that a device sends, by the rules of negotiations. The base is the content that the device was
 * listed last, because RetroArch compares its file with that before it sends anything.
 */
export async function decidePut (
  { db: tx, device: { sync_mode: mode } }: DeviceContext, asset: CurrentAsset, sha1: string,
  told: Pick<DeviceState, 'listed'> | null
): Promise<Decision> {
  const isLive = asset.deleted_by === null
  const isPresent = isLive && !asset.missing_from_fs
  const listed = told?.listed ?? null
  const current = { sha1: asset.sha1, content_hash: null, updated_at: asset.updated_at, conflict_of: null }
  const formerAt = await selectFormer(tx, asset.id, sha1)
  const decision = decide({
    device: { hash: sha1, changed_at: 0 },
    server: isPresent ? current : null,
    base: listed === null || listed === ''
      ? null
      : { sha1: listed, content_hash: null, updated_at: listed === asset.sha1 ? asset.updated_at : 0 },
    former: formerAt === null ? null : { sha1, content_hash: null, updated_at: formerAt },
    is_deleted: asset.deleted_by === 'owner',
    is_deleted_content: asset.deleted_by === 'owner' && asset.sha1 === sha1,
    is_missing: isLive && asset.missing_from_fs,
    is_missing_content: isLive && asset.missing_from_fs && asset.sha1 === sha1,
    is_untracked: false,
    last_synced_at: null,
    restores_unlisted: false
  })
  // The device was told of the deletion, so its user chose to send the file again.
  const isChosen = decision.action === 'delete' && listed === ''
  if (isChosen) return { ...decision, action: 'upload' }
  return mode === 'push_only' ? limitDirection(decision, 'push') : decision
}
