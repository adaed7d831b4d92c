import type { components } from '../../api/schema.d.ts'
import type { Messages } from '../../i18n/en.ts'

export type Notification = components['schemas']['Notification']
type Kinds = Messages['notifications']['kinds']

const readText = (data: Notification['data'], name: string): string => {
  const { [name]: value } = data
  return typeof value === 'string' ? value : ''
}
const readNumber = (data: Notification['data'], name: string): number => {
  const { [name]: value } = data
  return typeof value === 'number' ? value : 0
}

const readTexts = (data: Notification['data'], name: string): string[] => {
  const { [name]: value } = data
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
}

/** The text of a notification in the chosen language. */
export interface Words { readonly title: string, readonly body: string }

const MAKERS: { readonly [Kind in keyof Kinds]: (words: Kinds[Kind], data: Notification['data']) => Words } = {
  scan_completed ({ title, body, failed }, data) {
    const failures = readTexts(data, 'provider_failures')
    const words = body(readNumber(data, 'new_roms'))
    return { title, body: failures.length === 0 ? words : `${words} ${failed(readNumber(data, 'failed_lookups'), failures.join('; '))}` }
  },
  scan_failed: ({ title }, data) => ({ title, body: readText(data, 'error') }),
  provider_refused: ({ title }, data) => ({ title: title(readText(data, 'name')), body: readText(data, 'reason') }),
  task_completed: ({ title }, data) => ({ title: title(readText(data, 'title')), body: '' }),
  task_failed: ({ title }, data) => ({ title: title(readText(data, 'title')), body: readText(data, 'error') }),
  streaming_session_ended: ({ title }, data) => ({ title: title(readText(data, 'rom_name')), body: readText(data, 'reason') }),
  role_changed: ({ admin, user }, data) => ({ title: readText(data, 'role') === 'admin' ? admin : user, body: '' }),
  channel_disabled: ({ title }, data) => ({ title: title(readText(data, 'name')), body: readText(data, 'error') }),
  device_install_completed: ({ title }, data) => ({
    title: title(readText(data, 'rom_name'), readText(data, 'device_name')), body: readText(data, 'reason')
  }),
  device_install_failed: ({ title }, data) => ({
    title: title(readText(data, 'rom_name'), readText(data, 'device_name')), body: readText(data, 'reason')
  }),
  deletions_reverted: ({ title, body }, data) => ({
    title: title(readText(data, 'device_name')), body: body(readNumber(data, 'count'))
  })
}
const isKind = (kind: string): kind is keyof Kinds => Object.hasOwn(MAKERS, kind)

function make<Kind extends keyof Kinds> (kind: Kind, kinds: Kinds, data: Notification['data']): Words {
  return MAKERS[kind](kinds[kind], data)
}

/** Returns the text of a notification: the sender's own, else that of its kind. */
export function wordsOf ({ kind, title, body, data }: Notification, kinds: Kinds): Words {
  if (title !== null) return { title, body: body ?? '' }
  return isKind(kind) ? make(kind, kinds, data) : { title: kind, body: body ?? '' }
}

/** Returns the view that a notification is about; null if there is none. */
export function viewOf ({ kind, link, data }: Notification): string | null {
  const game = /^\/roms?\/(\d+)/.exec(link ?? '')?.[1] ?? data.rom_id
  if (typeof game === 'number' || typeof game === 'string') return `roms/${game}`
  if (link !== null) return link.replace(/^\/+/, '')
  if (kind === 'scan_completed') return 'roms?order=created_at'
  return kind === 'channel_disabled' ? 'account/channels' : null
}
