/** What a file is made of, by both of its hashes. */
export interface Content {
  sha1: string
  /** MD5; null when it could not be computed. */
  content_hash: string | null
}

/** Content that the server has or had. */
export interface StoredContent extends Content {
  /** When it became what the server has, in milliseconds since 1970. */
  updated_at: number
}

/** A file as a device lists it. */
export interface DeviceFile {
  /** SHA-1 or MD5, told apart by their length; null when the device names none. */
  hash: string | null
  /** When it was changed, in milliseconds since 1970. */
  changed_at: number
}

/** The newest content the server has of the same file or slot. */
export interface ServerFile extends StoredContent {
  /** The file about which there was a conflict, when this keeps its other side. */
  conflict_of: number | null
}

/** Everything that is known about one file or slot of one device. */
export interface Situation {
  /** Null when the device did not list it. */
  device: DeviceFile | null
  server: ServerFile | null
  /** What this device and the server last agreed on. */
  base: StoredContent | null
  /** Former content on the server that the device's file is; null when it is none. */
  former: StoredContent | null
  /** Whether the server has nothing because its owner deleted it there. */
  is_deleted: boolean
  /** Whether the device's file is content that went with it. */
  is_deleted_content: boolean
  /** Whether content that the server should have is gone from its disk. */
  is_missing: boolean
  /** Whether the device's file is that content. */
  is_missing_content: boolean
  /** Whether the owner wants this file left alone on this device. */
  is_untracked: boolean
  /** When this device last gave the server's file, or was given it. */
  last_synced_at: number | null
  /** Whether what the device removed is offered again. */
  restores_unlisted: boolean
}

/** `delete` is told to clients that understand it; the others are to leave the file alone. */
export const ACTIONS = ['upload', 'download', 'conflict', 'noop', 'delete'] as const
export type Action = typeof ACTIONS[number]

export interface Decision {
  action: Action
  reason: string
  /** What both sides have now agreed on; null when that stays as it was. */
  agreed: StoredContent | null
}

const SHA1_LENGTH = 40

const settle = (action: Action, reason: string, agreed: StoredContent | null = null): Decision =>
  ({ action, reason, agreed })

/** Whether a device's hash can tell its file from this content. */
const isComparable = (hash: string, content: Content): boolean =>
  hash.length === SHA1_LENGTH || content.content_hash !== null

/** Whether a hash, in small letters, is one of this content. */
export const isHashOf = (hash: string, { sha1, content_hash: md5 }: Content): boolean =>
  hash === (hash.length === SHA1_LENGTH ? sha1 : md5)

const isSameContent = (one: Content, other: Content): boolean =>
  one.sha1 === other.sha1 || (one.content_hash !== null && one.content_hash === other.content_hash)

function decideUnlisted (server: ServerFile, situation: Situation): Decision {
  const { base, restores_unlisted: restores, is_untracked: isUntracked } = situation
  if (isUntracked) return settle('noop', 'Not tracked on this device')
  if (base === null) return settle('download', 'New on the server')
  if (!isSameContent(server, base)) return settle('download', 'Changed on the server')
  return restores ? settle('download', 'Restored to the device') : settle('noop', 'Removed on the device')
}

function decideAbsent ({ hash }: DeviceFile, situation: Situation): Decision {
  const { base, is_deleted: isDeleted, is_deleted_content: isKept } = situation
  const isAgreed = hash !== null && base !== null && isHashOf(hash, base)
  if (!isDeleted) {
    // Only what the owner deleted leaves nothing at all: not what the disk lost, nor what the limit of a history took.
    return isAgreed && !situation.is_missing && situation.former === null
      ? settle('noop', 'Deleted on the server, longer ago than is kept')
      : settle('upload', 'Not on the server')
  }
  return isKept || isAgreed
    ? settle('delete', 'Deleted on the server')
    : settle('upload', 'Deleted on the server, but changed on the device since')
}

/** Modification times say who is newer only as far as clocks are right: this is for devices that name no hash. */
function decideByClock (device: DeviceFile, server: ServerFile, last: number | null): Decision {
  const [changed, updated] = [device.changed_at, server.updated_at]
  if (last !== null) {
    if (changed > last && updated > last) return settle('conflict', 'Both were changed since the last sync')
    if (changed > last) return settle('upload', 'Changed on the device since the last sync')
    if (updated > last) return settle('download', 'Changed on the server since the last sync')
    return settle('noop', 'Neither was changed since the last sync')
  }
  if (changed > updated) return settle('upload', 'The file on the device is newer')
  if (updated > changed) return settle('download', 'The file on the server is newer')
  return server.content_hash === null
    ? settle('noop', 'Both have the same time')
    : settle('conflict', 'Both have the same time, and whether they are the same cannot be told')
}

function decideByContent (hash: string, server: ServerFile, situation: Situation): Decision {
  const { base, former, is_missing_content: isMissing } = situation
  if (isHashOf(hash, server)) return settle('noop', 'Both are the same', server)
  if (base !== null) {
    const isServers = isSameContent(server, base)
    const isDevices = isHashOf(hash, base)
    // A device may hash in a way of its own, which only the base then has.
    if (isServers && isDevices) return settle('noop', 'Neither was changed')
    // It was given that by the server, whether or not it said so; since then the owner went back.
    if (isServers && former !== null && former.updated_at > base.updated_at && !isMissing) {
      return settle('download', 'The device has what the server had since, and has no longer', former)
    }
    // A hash that has no counterpart cannot say that the file changed.
    if (isServers && isComparable(hash, server)) return settle('upload', 'Changed on the device')
    if (isDevices && !isMissing) return settle('download', 'Changed on the server')
  }
  if (former !== null && !isMissing) return settle('download', 'The device has an older version', former)
  // A copy that came out of a conflict does not make another: the server keeps its content as a version of it.
  return server.conflict_of !== null
    ? settle('upload', 'Changed on both; this is already a copy of a conflict')
    : settle('conflict', 'Changed on both')
}

/**
 * Decides what becomes of one file or slot: by content where the device names a hash, against what both sides last
 * agreed on. Neither side's only copy of anything is ever replaced without being asked for: an upload leaves the
 * server's content among its versions, a download replaces only what the server has or had.
 */
export function decide (situation: Situation): Decision {
  const { device, server } = situation
  if (device === null) return server === null ? settle('noop', 'On neither side') : decideUnlisted(server, situation)
  if (server === null) return decideAbsent(device, situation)
  if (situation.is_untracked) return settle('noop', 'Not tracked on this device')
  return device.hash === null
    ? decideByClock(device, server, situation.last_synced_at)
    : decideByContent(device.hash, server, situation)
}

/** Which way files may go. */
export type Direction = 'pull' | 'push' | 'both'

/** A decision as far as the device wants it carried out. */
export function narrow (decision: Decision, direction: Direction): Decision {
  const { action } = decision
  // A conflict stays one: to be told of a download would cost the device the only copy of its own file.
  if (direction === 'pull' && action === 'upload') return settle('noop', 'This device only receives')
  if (direction === 'push') {
    if (action === 'download' || action === 'delete') return settle('noop', 'This device only sends')
    if (action === 'conflict') return { ...decision, action: 'upload' }
  }
  return decision
}
