import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section, TIMER_MAX_SECONDS } from '../../core/config/setting.ts'
import { StringEnum } from '../../core/typebox.ts'
import { DISC_SWAPS, IMPORT_KINDS } from './schemas.ts'
import { SLOT_MAX } from './emulator-slots.ts'

const Flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const Text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))
const Slot = (description: string) => Type.Optional(Type.Integer({ minimum: 0, maximum: SLOT_MAX, description }))

const ContainerSettings = Type.Object({
  platform: Type.Optional(Type.String({ description: 'Slug of the platform; a machine for several platforms has an entry for each' })),
  host: Type.Optional(Type.String({ description: 'Address at which browsers watch, with its scheme' })),
  broker_host: Text('Address of the broker for the server; default: the host with port 8000'),
  broker_secret: Type.Optional(Type.String({ writeOnly: true, description: 'Secret that the broker expects in X-Broker-Secret' })),
  label: Type.Optional(Type.String({ description: 'Name that users see; default: the slug in capitals' })),
  emulator: Text('Emulator of the machine, such as retroarch'),
  library_path: Text('Path of the first library on that machine; default: the path on the server, as for all other libraries'),
  assets_path: Text('Path of the folder assets of the data directory on that machine; default: the path on the server'),
  max_slots: Slot('Number of save states that users can choose from; the default depends on the platform'),
  autosave_slot: Slot('The slot that save-and-exit writes to; 0 for none'),
  desktop: Flag('True if administrators may open its desktop'),
  joinable: Flag('True if others can join a game on the machine'),
  memory_cards: Flag('True if a memory card stays on the machine between games'),
  disc_swap: Type.Optional(StringEnum(DISC_SWAPS, { description: 'Method to change discs: by the broker, or manually by the player' })),
  import_kinds: Type.Optional(Type.Array(StringEnum(IMPORT_KINDS), { description: 'Kinds of the files of a player that the machine can load' }))
})

export const streamingConfig = defineSection('streaming', Section({
  enabled: Type.Boolean({ default: false, description: 'Runs games on other machines and shows them in the browser' }),
  broker_secret: Type.Optional(Type.String({
    writeOnly: true, env: 'STREAMING_BROKER_SECRET', description: 'The secret of every broker; replaces those of containers'
  })),
  save_timeout_seconds: Type.Integer({
    default: 45,
    minimum: 1,
    maximum: TIMER_MAX_SECONDS,
    env: 'STREAMING_SAVE_TIMEOUT',
    description: 'Maximum time in seconds for a broker to save before it stops'
  }),
  launch_timeout_seconds: Type.Integer({
    default: 300,
    minimum: 1,
    maximum: TIMER_MAX_SECONDS,
    env: 'STREAMING_LAUNCH_TIMEOUT',
    description: 'Maximum time in seconds for a game to start'
  }),
  containers: Type.Array(ContainerSettings, {
    default: [], writeOnly: true, description: 'The machines, each with its broker and its secret'
  })
}, 'Games that run on other machines'), { isLive: true })
