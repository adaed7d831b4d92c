import type { NotificationLevel } from '@svc/plugin-sdk'
import type { TOPICS } from '../channels/schemas.ts'
import type { ScanStats } from '../scans/schemas.ts'
import type { User } from '../users/entities.ts'

type Topic = typeof TOPICS[number]

interface Install {
  rom_id: number
  rom_name: string
  device_name: string
  status: string
  reason: string | null
}

/** Data of each kind, from which clients make text in their language and the server makes English text. */
interface KindData {
  /** `provider_failures` has a sentence for each provider whose lookups failed; it is absent if none did. */
  scan_completed: ScanStats & { provider_failures?: readonly string[] }
  scan_failed: { error: string }
  provider_refused: { provider: string, name: string, reason: string }
  task_completed: { title: string }
  task_failed: { title: string, error: string }
  streaming_session_ended: { rom_id: number, rom_name: string, reason: string }
  role_changed: { role: User['role'] }
  channel_disabled: { channel_id: number, name: string, error: string }
  device_install_completed: Install
  device_install_failed: Install
  deletions_reverted: { device_name: string, count: number }
}
type BuiltInKind = keyof KindData

interface Kind<Data> {
  level: NotificationLevel
  topic: Topic
  title (data: Data): string
  body (data: Data): string
  /** Returns a path inside the service with more information. */
  path (data: Data): string | null
}

const countOf = (count: number, noun: string) => `${count} new ${noun}${count === 1 ? '' : 's'}`
const romPath = (data: { rom_id: number }) => `/rom/${data.rom_id}`
const noText = () => ''

const KINDS: { [K in BuiltInKind]: Kind<KindData[K]> } = {
  scan_completed: {
    level: 'success',
    topic: 'scans',
    title: () => 'Scan completed',
    body: ({ new_roms: count, failed_lookups: failed, provider_failures: failures = [] }) => failures.length === 0
      ? countOf(count, 'game')
      : `${countOf(count, 'game')}, ${failed} failed ${failed === 1 ? 'lookup' : 'lookups'}: ${failures.join('; ')}`,
    path: () => '/scan'
  },
  scan_failed: {
    level: 'error', topic: 'scans', title: () => 'Scan failed', body: ({ error }) => error, path: () => '/scan'
  },
  provider_refused: {
    level: 'error',
    topic: 'scans',
    title: ({ name }) => `${name} refused its credentials`,
    body: ({ reason }) => reason,
    path: () => '/administration'
  },
  task_completed: {
    level: 'success',
    topic: 'tasks',
    title: ({ title }) => `Task finished: ${title}`,
    body: noText,
    path: () => '/administration'
  },
  task_failed: {
    level: 'error',
    topic: 'tasks',
    title: ({ title }) => `Task failed: ${title}`,
    body: ({ error }) => error,
    path: () => '/administration'
  },
  streaming_session_ended: {
    level: 'warning',
    topic: 'streaming',
    title: (data) => `Stream ended: ${data.rom_name}`,
    body: ({ reason }) => reason,
    path: romPath
  },
  role_changed: {
    level: 'info',
    topic: 'account',
    title: ({ role }) => role === 'admin' ? 'You are an administrator now' : 'You are no longer an administrator',
    body: noText,
    path: () => null
  },
  channel_disabled: {
    level: 'warning',
    topic: 'account',
    title: ({ name }) => `Channel disabled: ${name}`,
    body: ({ error }) => error,
    path: () => '/notifications?tab=channels'
  },
  device_install_completed: {
    level: 'success',
    topic: 'devices',
    title: (data) => `${data.rom_name} is installed on ${data.device_name}`,
    body: ({ reason }) => reason ?? '',
    path: romPath
  },
  device_install_failed: {
    level: 'error',
    topic: 'devices',
    title: (data) => `${data.rom_name} was not installed on ${data.device_name}`,
    body: ({ reason }) => reason ?? '',
    path: romPath
  },
  deletions_reverted: {
    level: 'warning',
    topic: 'devices',
    title: (data) => `${data.device_name} deleted many files at once`,
    body: ({ count }) => `${count} ${count === 1 ? 'file was' : 'files were'} restored. Delete them in your library if you no longer want them.`,
    path: () => null
  }
}

/** An occasion for a notification, with the data of its kind. */
export type NotificationCause<K extends BuiltInKind = BuiltInKind> = { [P in K]: { kind: P, data: KindData[P] } }[K]

/** A notification without recipients. */
export interface Draft {
  kind: string
  level: NotificationLevel
  /** The sender's own text and link; null if clients make them from the kind and its data. */
  sentText: { title: string | null, body: string | null, link: string | null, icon: string | null }
  data: Record<string, unknown>
  topic: Topic
  /** English text for channels. */
  text: { title: string, body: string, path: string | null }
}

export const isBuiltIn = (kind: string): boolean => Object.hasOwn(KINDS, kind)

export function draftOf<K extends BuiltInKind> ({ kind, data }: NotificationCause<K>): Draft {
  const { level, topic, title, body, path }: Kind<KindData[K]> = KINDS[kind]
  return {
    kind,
    level,
    sentText: { title: null, body: null, link: null, icon: null },
    data: { ...data },
    topic,
    text: { title: title(data), body: body(data), path: path(data) }
  }
}
