import { formatDate } from '../../../core/typebox.ts'
import { SLOT_KEY_START } from '../../assets/base-rows.ts'
import { type ListedFile, type Listing, isChangedLater, readChange, readHash, readStoredName } from '../read-listing.ts'
import type { Pair } from '../pair.ts'
import type { NegotiateBody, SlotOperation } from '../schemas.ts'

/** Request fields of newer clients, which support `delete`. */
const LATER_FIELDS = ['rom_ids', 'restore_unlisted', 'emulators'] as const
const understandsDelete = (body: NegotiateBody) => LATER_FIELDS.some((field) => body[field] !== undefined)

/** Numbers above this limit are milliseconds; as seconds it is the year 2603. */
const SECONDS_MAX = 20_000_000_000

/** Converts a time to ISO 8601; apps also send numbers since 1970. */
function toTimeText (time: number | string): string {
  const count = Number(time)
  if (Number.isNaN(count)) return String(time)
  const date = new Date(count > SECONDS_MAX ? count : count * 1_000)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
}

function listFiles (saves: NonNullable<NegotiateBody['saves']>): ListedFile[] {
  return saves.map((save, index) => {
    const slot = save.slot ?? null
    const changed = toTimeText(save.updated_at)
    const hash = readHash(save.content_hash)
    return {
      rom_id: Number(save.rom_id),
      kind: 'save',
      file_name: save.file_name,
      mtime: changed,
      slot,
      emulator: save.emulator ?? null,
      hash,
      changed_at: hash === null ? readChange(changed, ['saves', index, 'updated_at']) : 0,
      is_storable: readStoredName(save.file_name) !== null,
      key: slot
    }
  })
}

/** Reads the dialect that lists saves and pairs them by slot. A save without a slot is uploaded and never paired. */
export function readBySlot (saves: NonNullable<NegotiateBody['saves']>, body: NegotiateBody): Listing {
  const { rom_ids: romIds = null, restore_unlisted: restores = false, emulators = null } = body
  const isOffered = (emulator: string | null) =>
    emulators === null || (emulator !== null && emulators.includes(emulator))
  return {
    files: listFiles(saves),
    kinds: ['save'],
    rom_ids: romIds === null ? null : [...new Set([...romIds, ...saves.map((save) => Number(save.rom_id))])],
    includes_known: false,
    restores_unlisted: restores,
    keyOf: ({ slot, emulator, conflict_of: conflictOf }) =>
      conflictOf === null && isOffered(emulator) ? slot : null,
    key_start: SLOT_KEY_START,
    isPreferred: isChangedLater
  }
}

export function createSlotOperations (body: NegotiateBody) {
  const deletes = understandsDelete(body)
  const actions = { upload: 'upload', download: 'download', conflict: 'conflict', noop: 'no_op' } as const

  return function toOperation ({ rom_id: romId, file, asset, decision }: Pair): SlotOperation {
    return {
      action: decision.action !== 'delete' ? actions[decision.action] : deletes ? 'delete' : 'no_op',
      rom_id: romId,
      save_id: asset?.id ?? null,
      file_name: asset?.file_name ?? file?.file_name ?? '',
      slot: asset === null ? file?.slot ?? null : asset.slot,
      emulator: asset === null ? file?.emulator ?? null : asset.emulator,
      reason: decision.reason,
      server_updated_at: asset === null ? null : formatDate(asset.updated_at),
      server_content_hash: asset?.content_hash ?? null
    }
  }
}

/** Counts the operations by action, as fields of the response. */
export function countOperations (operations: readonly SlotOperation[], body: NegotiateBody) {
  const count = (action: SlotOperation['action']) =>
    operations.reduce((sum, operation) => sum + Number(operation.action === action), 0)
  return {
    total_upload: count('upload'),
    total_download: count('download'),
    total_conflict: count('conflict'),
    total_no_op: count('no_op'),
    ...(understandsDelete(body) ? { total_delete: count('delete') } : {})
  }
}
