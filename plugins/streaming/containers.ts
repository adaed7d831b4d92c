import { hash } from 'node:crypto'
import type { Config } from '../../core/config/config.ts'
import type { SectionOf } from '../../core/config/section.ts'
import { streamingConfig } from './config.ts'
import { type Slots, slotsOf } from './emulator-slots.ts'

type Settings = SectionOf<typeof streamingConfig>['containers'][number]

const BROKER_PORT = '8000'
const ID_LENGTH = 16

/** A machine with the settings for one platform. */
export interface Container {
  /** Id of the machine, a hash of the broker's address, which reveals nothing to clients. */
  id: string
  platform: string
  host: string
  label: string
  /** Null if the address is incomplete, which makes the machine unusable. */
  broker: string | null
  secret: string | null
  emulator: string | null
  slots: Slots
  library_path: string | null
  assets_path: string | null
  desktop: boolean
  joinable: boolean
  memory_cards: boolean
  disc_swap: NonNullable<Settings['disc_swap']>
  import_kinds: NonNullable<Settings['import_kinds']>
}

/** A machine with a complete broker address. */
export interface UsableContainer extends Container { broker: string }

const ADDRESS = /^https?:\/\//i

function originOf (address: string): string | null {
  return URL.canParse(address) ? address.replace(/\/+$/, '') : null
}

/** Returns the address of a machine's broker; null if it cannot be derived. */
function brokerOf (host: string, given: string | undefined): string | null {
  if (!ADDRESS.test(host) || !URL.canParse(host)) return null
  if (given !== undefined) return originOf(ADDRESS.test(given) ? given : `http://${given}`)
  const url = new URL(host)
  url.port = BROKER_PORT
  return url.origin
}

function readContainer (settings: Settings, secret: string | undefined): Container[] {
  const { platform = '', host = '', label } = settings
  if (platform === '' || host === '') return []
  const slug = platform.toLowerCase()
  const broker = brokerOf(host, settings.broker_host)
  const usual = slotsOf(slug)
  return [{
    id: hash('sha256', broker ?? host, 'hex').slice(0, ID_LENGTH),
    platform: slug,
    host,
    label: label ?? slug.toUpperCase(),
    broker,
    secret: secret ?? settings.broker_secret ?? null,
    emulator: settings.emulator ?? null,
    slots: {
      max_slots: settings.max_slots ?? usual.max_slots, autosave_slot: settings.autosave_slot ?? usual.autosave_slot
    },
    library_path: settings.library_path ?? null,
    assets_path: settings.assets_path ?? null,
    desktop: settings.desktop ?? false,
    joinable: settings.joinable ?? false,
    memory_cards: settings.memory_cards ?? false,
    disc_swap: settings.disc_swap ?? 'none',
    import_kinds: settings.import_kinds ?? []
  }]
}

/** Lists all configured machines in the order of their use. Entries without platform or host are skipped. */
export function listContainers (config: Config): Container[] {
  const { containers, broker_secret: secret } = streamingConfig.of(config)
  return containers.flatMap((settings) => readContainer(settings, secret))
}

const isUsable = (container: Container): container is UsableContainer => container.broker !== null

/** Lists the machines that may be used now. */
export const listUsable = (config: Config): UsableContainer[] =>
  streamingConfig.of(config).enabled ? listContainers(config).filter(isUsable) : []
