import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Id, Nullable, StoredText, StringEnum } from '../../core/typebox.ts'
import { SLOT_MAX } from './emulator-slots.ts'

const PLATFORM_MAX = 255
const REASON_MAX = 200
const CONTAINER_MAX = 300
const LEVEL_MAX = 100

export const IMPORT_KINDS = ['save', 'state'] as const
export const DISC_SWAPS = ['none', 'broker', 'manual'] as const
export const CORE_TIERS = ['default', 'vetted', 'untested', 'blocked'] as const
const CARD_IMPORTS = ['adopt', 'discard'] as const
/** States of a memory card that another game left behind. */
export const CARD_OUTCOMES = ['found', 'unreadable'] as const

const Text = Type.String()
const NullableText = Nullable(Text)
const NullableTime = Nullable(DateTime)
const NullableId = Nullable(Type.Integer())
const Container = Type.String({ description: 'Id of the machine; does not reveal its address' })
const Slot = (minimum: number, usual: number) => Type.Integer({ minimum, maximum: SLOT_MAX, default: usual })

export const PlatformParams = Type.Object({
  platform: StoredText({ maxLength: PLATFORM_MAX, description: 'Slug of the platform, in upper or lower case' })
})

export const CapabilitiesSchema = Type.Object({
  max_slots: Type.Integer({ description: 'Number of save states to choose from, starting at 1' }),
  has_autosave: Type.Boolean(),
  autosave_slot: Type.Integer({ description: '0 for none' }),
  has_memory_card: Type.Boolean(),
  supports_disc_swap: Type.Boolean(),
  has_manual_disc_swap: Type.Boolean({ description: 'True if the player changes discs in the emulator itself' })
}, { title: 'StreamingCapabilities' })
export const StreamingContainerSchema = Type.Object({
  platform: Text,
  host: Text,
  label: Text,
  capabilities: CapabilitiesSchema,
  emulator: NullableText,
  supports_memory_cards: Type.Boolean(),
  supports_save_picker: Type.Boolean(),
  supports_live_states: Type.Boolean(),
  import_kinds: Type.Array(StringEnum(IMPORT_KINDS))
}, { title: 'StreamingContainer' })
export const StreamingConfigSchema = Type.Object({
  enabled: Type.Boolean(),
  containers: Type.Array(StreamingContainerSchema),
  emulator_labels: Type.Record(Text, Text, { description: 'Names of emulators by their id' })
}, { title: 'StreamingConfig' })
export type StreamingConfigView = Static<typeof StreamingConfigSchema>

export const ClaimSchema = Type.Object({
  rom_id: Id,
  state_id: Type.Optional(Nullable(Id)),
  memory_card_id: Type.Optional(Nullable(Id)),
  card_import: Type.Optional(Nullable(StringEnum(CARD_IMPORTS))),
  multiplayer: Type.Optional(Type.Boolean({ default: false, description: 'True if other users may join' }))
}, { title: 'StreamingClaim' })
export type Claim = Static<typeof ClaimSchema>

export const LaunchingSessionSchema = Type.Object({
  platform: Text,
  container: Container,
  label: Text,
  rom_name: Text,
  claimed_at: DateTime,
  host: Type.String({ description: 'Address to watch the game, available after streaming:launch-ready' })
}, { title: 'LaunchingSession' })
export type LaunchingSession = Static<typeof LaunchingSessionSchema>

/** Details about a machine that is in use. */
export const BusySchema = Type.Object({
  detail: Type.Union([Text, Type.Object({
    message: Text, rom_name: NullableText, claimed_at: NullableTime, draining: Type.Boolean()
  }, { title: 'StreamingBusy' })])
})
export const MemoryCardPromptSchema = Type.Object({
  detail: Type.Object({
    message: Text,
    code: Type.Literal('memory_card_import_required'),
    outcome: StringEnum(CARD_OUTCOMES),
    summary: Nullable(Type.Object({
      file_count: Type.Integer(), total_bytes: Type.Integer(), game_codes: Type.Array(Text)
    }, { title: 'MemoryCardSummary' })),
    reason: NullableText
  }, { title: 'MemoryCardPrompt' })
})

export const SaveAndExitSchema = Type.Object({ slot: Slot(0, 0), wait: Type.Boolean({ default: true }) }, { title: 'SaveAndExit' })
export const VolumeSchema = Type.Object({ level: Type.Integer({ minimum: 0, maximum: LEVEL_MAX }) })
export const MuteSchema = Type.Object({ mute: Type.Optional(Nullable(Type.Boolean({ description: 'Null toggles' }))) })
export const SlotSchema = Type.Object({ slot: Slot(1, 1) })
export const SwapDiscSchema = Type.Object({ file_id: Id })
export const DesktopSchema = Type.Object({ container: StoredText({ minLength: 1, maxLength: CONTAINER_MAX }) })

export const ReleaseQuery = Type.Object({
  reason: Type.Optional(StoredText({ maxLength: REASON_MAX, description: 'Reason that the player sees' })),
  container: Type.Optional(StoredText({ maxLength: CONTAINER_MAX, description: 'Id of the machine, to select one of several' })),
  save: Type.Boolean({ default: false, description: 'True to save the game first, if the emulator supports it' })
})
export type Release = Static<typeof ReleaseQuery>
export const ReleaseAllQuery = Type.Pick(ReleaseQuery, ['reason'])
export const JoinQuery = Type.Pick(ReleaseQuery, ['container'])
export const JoinableQuery = Type.Object({
  rom_id: Type.Optional({ ...Id, description: 'Only sessions of this ROM' })
})

export const SavedSchema = Type.Object({
  status: Type.Literal('ok'),
  saved: Type.Boolean(),
  platform: Text,
  released: Type.Boolean({ description: 'True if the machine is already free' })
}, { title: 'SavedAndExited' })
export const VolumeSetSchema = Type.Object({ status: Type.Literal('ok'), level: Type.Integer(), platform: Text }, { title: 'StreamingVolume' })
export const MuteSetSchema = Type.Object({ status: Type.Literal('ok'), mute: Nullable(Type.Boolean()), platform: Text }, { title: 'StreamingMute' })
export const StateSavedSchema = Type.Object({ status: Type.Literal('saving'), slot: Type.Integer(), platform: Text }, { title: 'StreamingStateSaved' })
export const StateLoadedSchema = Type.Object({
  status: Type.Literal('ok'), loaded: Type.Literal(true), slot: Type.Integer(), platform: Text
}, { title: 'StreamingStateLoaded' })
export const FrameKeptSchema = Type.Object({ status: Type.Literal('ok'), platform: Text }, { title: 'StreamingFrame' })
export const DiscSwappedSchema = Type.Object({ status: Type.Literal('ok'), file_id: Type.Integer(), platform: Text }, { title: 'StreamingDisc' })
export const ReleasedSchema = Type.Object({ status: StringEnum(['released', 'not_found']), platform: Text }, { title: 'StreamingReleased' })
export const AllReleasedSchema = Type.Object({
  status: Type.Literal('released'), platforms: Type.Array(Container)
}, { title: 'StreamingAllReleased' })

export const SessionTerminationSchema = Type.Object({
  ended_by: NullableText,
  reason: NullableText,
  ended_at: NullableTime,
  platform: NullableText,
  rom_name: NullableText,
  container: NullableText,
  claimed_at: NullableTime,
  rom_id: NullableId,
  desktop: Type.Boolean()
}, { title: 'SessionTermination' })
export type SessionTermination = Static<typeof SessionTerminationSchema>

export const SessionStatusSchema = Type.Object({
  status: StringEnum(['active', 'ended']),
  platform: Text,
  extraction_phase: NullableText,
  host: Nullable(Type.String({ description: 'Null while the game starts' })),
  termination: Nullable(SessionTerminationSchema)
}, { title: 'SessionStatus' })
export type SessionStatus = Static<typeof SessionStatusSchema>

const AdminSession = {
  platform: NullableText,
  rom_name: NullableText,
  claimed_at: NullableTime,
  username: NullableText,
  rom_id: NullableId,
  user_id: NullableId,
  desktop: Type.Boolean()
}
export const AdminSessionSchema = Type.Object({ container: Container, label: NullableText, ...AdminSession }, { title: 'AdminSession' })
export type AdminSession = Static<typeof AdminSessionSchema>
export const AdminSessionsSchema = Type.Object({ sessions: Type.Array(AdminSessionSchema) })

export const AdminContainerSchema = Type.Object({
  container: Container,
  name: Text,
  label: Text,
  host: Text,
  platforms: Type.Array(Text),
  supports_desktop: Type.Boolean(),
  configured: Type.Boolean({ description: 'True if its settings are complete' }),
  draining: Type.Boolean({ description: 'True if its last game is still being ended' }),
  session: Nullable(Type.Object(AdminSession, { title: 'AdminContainerSession' }))
}, { title: 'AdminContainer' })
export type AdminContainer = Static<typeof AdminContainerSchema>
export const AdminContainersSchema = Type.Object({
  enabled: Type.Boolean(), containers: Type.Array(AdminContainerSchema)
}, { title: 'AdminContainers' })

export const JoinedSessionSchema = Type.Object({
  platform: Text, host: Text, label: Text, rom_id: NullableId, rom_name: NullableText
}, { title: 'JoinedSession' })
export type JoinedSession = Static<typeof JoinedSessionSchema>

export const JoinableSessionSchema = Type.Object({
  container: Container,
  label: NullableText,
  platform: NullableText,
  rom_name: NullableText,
  host_username: NullableText,
  claimed_at: NullableTime,
  platform_display_name: NullableText,
  path_cover_small: NullableText,
  path_cover_large: NullableText,
  url_cover: NullableText,
  rom_id: NullableId,
  platform_id: NullableId
}, { title: 'JoinableSession' })
export type JoinableSession = Static<typeof JoinableSessionSchema>
export const JoinableSessionsSchema = Type.Object({ sessions: Type.Array(JoinableSessionSchema) })

export const DesktopSessionSchema = Type.Object({
  container: Container, platform: Text, host: Text, label: Text, claimed_at: DateTime
}, { title: 'DesktopSession' })
export type DesktopSession = Static<typeof DesktopSessionSchema>

const REFUSAL_TEXT_MAX = 500
const RefusalText = Type.Optional(Type.String({ maxLength: REFUSAL_TEXT_MAX }))
/** The reason why an emulator refuses a file of the player. */
export const RefusalSchema = Type.Object({
  reason: Type.String({ maxLength: REFUSAL_TEXT_MAX }),
  member: RefusalText,
  expected: RefusalText,
  detail: RefusalText,
  suggest_emulator: RefusalText,
  docs: RefusalText
})
export type Refusal = Static<typeof RefusalSchema>
