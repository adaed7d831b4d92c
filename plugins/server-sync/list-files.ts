import { NAME_KEY_START, withoutDateTag } from '../assets/base-rows.ts'
import { type ListedFile, type Listing, isPreferredName, readStoredName } from '../sync/read-listing.ts'
import type { Candidate } from './rows.ts'
import type { DeviceSave } from './transport.ts'

/** A file of the device, and the save that matches its name. */
export interface MatchedSave { save: DeviceSave, candidate: Candidate }

/**
 * Returns the save of the same platform with the same name. Otherwise a save matches whose name differs only by its
 * date tag, or by characters that the server does not store.
 */
export function matchSave (save: DeviceSave, candidates: readonly Candidate[]): Candidate | null {
  const ofPlatform = candidates.filter(({ fs_slug: folder, slug }) => [folder, slug].includes(save.platform))
  const stored = withoutDateTag(readStoredName(save.file_name) ?? save.file_name)
  return ofPlatform.find(({ file_name: name }) => name === save.file_name) ??
    ofPlatform.find(({ file_name: name }) => withoutDateTag(name) === stored) ?? null
}

/** @param hash content hash; null if it is not known */
function toListed ({ save, candidate }: MatchedSave, hash: string | null): ListedFile {
  const stored = readStoredName(save.file_name)
  return {
    rom_id: candidate.rom_id,
    kind: 'save',
    file_name: save.file_name,
    mtime: new Date(save.changed_at).toISOString(),
    slot: null,
    emulator: null,
    hash,
    changed_at: save.changed_at,
    is_storable: stored !== null,
    key: stored === null ? null : withoutDateTag(stored)
  }
}

/** Lists the files without copies: of several files of one ROM and name, date tags aside, the preferred one. */
export function withoutCopies (files: readonly MatchedSave[]): MatchedSave[] {
  const listed = files.map((file) => ({ file, ...toListed(file, null) }))
  const byName = Map.groupBy(listed, ({ rom_id: romId, key }) => `${romId}/${key}`)
  const preferred = new Set([...byName.values()].map((group) =>
    group.reduce((best, one) => isPreferredName(one, best) ? one : best)))
  return listed.flatMap((one) => preferred.has(one) ? [one.file] : [])
}

/** Creates the listing of these files for a negotiation: by name, with saves of slots. */
export function toListing (
  files: readonly { matched: MatchedSave, hash: string | null }[], romIds: readonly number[]
): Listing {
  return {
    files: files.map(({ matched, hash }) => toListed(matched, hash)),
    kinds: ['save'],
    rom_ids: romIds,
    includes_known: false,
    restores_unlisted: false,
    keyOf: ({ file_name: name, slot, conflict_of: conflictOf }) =>
      slot === null || conflictOf !== null ? null : withoutDateTag(name),
    key_start: NAME_KEY_START,
    isPreferred: isPreferredName
  }
}
