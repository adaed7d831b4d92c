import { formatDate } from '../../core/typebox.ts'
import type { Addresses } from '../resources/addresses.ts'
import type { Container } from './containers.ts'
import type { JoinableRow, SessionRow } from './rows.ts'
import type { AdminContainer, AdminSession, JoinableSession, SessionTermination, StreamingConfigView } from './schemas.ts'

/** Names of emulators by their id. */
const EMULATORS: Readonly<Record<string, string>> = {
  retroarch: 'RetroArch',
  dolphin: 'Dolphin',
  pcsx2: 'PCSX2',
  xemu: 'xemu',
  cemu: 'Cemu',
  ppsspp: 'PPSSPP',
  duckstation: 'DuckStation',
  rpcs3: 'RPCS3',
  melonds: 'melonDS',
  mgba: 'mGBA'
}

const toContainerView = (container: Container): StreamingConfigView['containers'][number] => ({
  platform: container.platform,
  host: container.host,
  label: container.label || container.platform.toUpperCase(),
  capabilities: {
    max_slots: container.slots.max_slots,
    has_autosave: container.slots.autosave_slot > 0,
    autosave_slot: container.slots.autosave_slot,
    has_memory_card: container.memory_cards,
    supports_disc_swap: container.disc_swap === 'broker',
    has_manual_disc_swap: container.disc_swap === 'manual'
  },
  emulator: container.emulator,
  supports_memory_cards: container.memory_cards,
  supports_save_picker: container.import_kinds.length > 0,
  supports_live_states: container.slots.max_slots > 0,
  import_kinds: container.import_kinds
})

export function toStreamingConfigView (enabled: boolean, containers: readonly Container[]): StreamingConfigView {
  const emulators = new Set(containers.flatMap(({ emulator }) => emulator === null ? [] : [emulator]))
  return {
    enabled,
    containers: containers.map(toContainerView),
    emulator_labels: Object.fromEntries([...emulators].map((id) => [id, EMULATORS[id] ?? id]))
  }
}

/** The cause of an ended session, other than its player. */
export interface Ending { by: { id: number, username: string } | null, reason: string }

export const toTerminationView = (session: SessionRow, ending: Ending, at: Date): SessionTermination => ({
  ended_by: ending.by?.username ?? null,
  reason: ending.reason,
  ended_at: formatDate(at),
  platform: session.platform,
  rom_name: session.rom_name,
  container: session.container,
  claimed_at: formatDate(session.claimed_at),
  rom_id: session.rom_id,
  desktop: session.rom_id === null
})

/** A draining session has no owner. */
function toAdminSession (session: SessionRow): Omit<AdminSession, 'container' | 'label'> {
  const isDraining = session.state === 'draining'
  return {
    platform: session.platform,
    rom_name: isDraining ? null : session.rom_name,
    claimed_at: isDraining ? null : formatDate(session.claimed_at),
    username: isDraining ? null : session.username,
    rom_id: isDraining ? null : session.rom_id,
    user_id: isDraining ? null : session.user_id,
    desktop: session.rom_id === null
  }
}

export function toAdminSessionView (session: SessionRow, containers: readonly Container[]): AdminSession {
  const container = containers.find(({ id, platform }) => id === session.container && platform === session.platform)
  return { container: session.container, label: container?.label ?? null, ...toAdminSession(session) }
}

/**
 * Returns the view of a machine with all its platforms. A machine that is no longer configured is described by its
 * session alone.
 */
export function toAdminContainerView (
  id: string, entries: readonly Container[], session: SessionRow | undefined
): AdminContainer {
  const [first] = entries
  const isDraining = session?.state === 'draining'
  const played = session === undefined ? [] : [session.platform]
  return {
    container: id,
    name: first === undefined || first.label === '' ? id : first.label,
    label: first?.label ?? '',
    host: first?.host ?? '',
    platforms: first === undefined ? played : entries.map(({ platform }) => platform),
    supports_desktop: entries.some(({ desktop }) => desktop),
    configured: first !== undefined && first.broker !== null,
    draining: isDraining,
    session: session === undefined || isDraining ? null : toAdminSession(session)
  }
}

export function toJoinableView (row: JoinableRow, label: string | null, addresses: Addresses): JoinableSession {
  const cover = (path: string | null) =>
    path === null || path === '' ? null : addresses.locate(path, formatDate(row.rom_updated_at))
  return {
    container: row.container,
    label,
    platform: row.platform,
    rom_name: row.rom_name,
    host_username: row.username,
    claimed_at: formatDate(row.claimed_at),
    platform_display_name: row.platform_name,
    path_cover_small: cover(row.path_cover_small),
    path_cover_large: cover(row.path_cover_large),
    url_cover: row.url_cover,
    rom_id: row.rom_id,
    platform_id: row.platform_id
  }
}
