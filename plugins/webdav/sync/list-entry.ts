/** The state of a path on the server. */
export interface PathState {
  /** SHA-1 of the current content; null if there is none. */
  sha1: string | null
  file_size_bytes: number
  is_deleted: boolean
}

/** The state of a path on a device, as far as its requests tell. */
export interface DeviceState {
  listed: string | null
  held: string | null
  /** True if the device sent the held content, and was told of no other since; a fetch may have failed. */
  is_sent: boolean
  misses: number
}

/** SHA-1 to list, empty for a deletion, null to leave the path out; and the number of lists that had no effect. */
export type ListEntry = Pick<DeviceState, 'listed' | 'misses'>

/** Lists without effect after which a path is left out once. */
const MISSES_MAX = 2
/** The same for content that the device fetched, or sent: most likely it has that, unless it lost the response. */
const FETCHED_MISSES_MAX = 8
const SENT_MISSES_MAX = 32
const LEFT_OUT: ListEntry = { listed: null, misses: 0 }

/** Returns a state for the list, or leaves the path out if listing that state had no effect. */
function listOrAsk (state: string, { listed, held, is_sent: isSent, misses }: DeviceState): ListEntry {
  const withoutEffect = listed === state ? misses + 1 : 0
  const heldMax = isSent ? SENT_MISSES_MAX : FETCHED_MISSES_MAX
  const missesMax = held === state ? heldMax : MISSES_MAX
  return withoutEffect >= missesMax ? LEFT_OUT : { listed: state, misses: withoutEffect }
}

/**
 * Decides the entry of a path in the list for one device. RetroArch reports no conflict and does nothing about one, so
 * listed content that it never fetches looks like a conflict. The path is then left out once: the device sends its
 * file, which the server stores as the other side of the conflict.
 *
 * Empty files are never listed, because the client takes an empty response for a failure. Deletions are listed only to
 * devices that had the file.
 *
 * @param sendsOnly true to list only content that the device sent, because it must not receive any
 */
export function chooseEntry (path: PathState, device: DeviceState, sendsOnly = false): ListEntry {
  const { sha1, file_size_bytes: size, is_deleted: isDeleted } = path
  if (sendsOnly && (isDeleted || sha1 !== device.held)) return LEFT_OUT
  if (isDeleted) return device.held === null ? LEFT_OUT : listOrAsk('', device)
  if (sha1 === null || size === 0) return LEFT_OUT
  return listOrAsk(sha1, device)
}
