import type { Readable } from 'node:stream'
import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { FastifyBaseLogger } from 'fastify'
import { NameText, Nullable, StoredText, StringEnum } from '../../core/typebox.ts'

/*
 * Neutral records of another program's library, which readers list and writers store. Absent is null, never an empty
 * text. Ids are those of the source, as text. Values of enums are lower case.
 */

const TEXT_MAX = 1_000_000
const NAME_MAX = 1_000

/** An id of the source. It is stable for one record between two imports of the same source. */
const SourceId = Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\u0000]*$' })
/** Names one record: no control of text direction, because other people read it. */
const Name = NameText({ minLength: 1, maxLength: NAME_MAX })
const Text = StoredText({ minLength: 1, maxLength: TEXT_MAX })
const NullableName = Nullable(Name)
const NullableText = Nullable(Text)
/** ISO 8601 in UTC, for example `2026-08-22T10:11:12.123456Z`. */
const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?Z$' })
const NullableTime = Nullable(Time)
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const NullableCount = Nullable(Count)
const Flag = Type.Boolean()
const JsonObject = Type.Record(Type.String(), Type.Unknown())
const Times = { created_at: NullableTime, updated_at: NullableTime }

/** The user of a record; null for the user whom the person who starts the import names. */
const UserId = Nullable(SourceId)

/** A file of the source. Only the reader that made the reference understands it. */
export const FileRef = Type.Object({
  /** A path for the reader and for the report. It is no path of this server. */
  path: StoredText({ minLength: 1, maxLength: 4_096 }),
  /** The size that the source stored, for comparison with the bytes; null if it stored none. */
  size_bytes: NullableCount
})
export type FileRef = Static<typeof FileRef>

/** A picture or document of a ROM. */
const Media = Type.Object({
  file: FileRef,
  /** The address from which the source downloaded the file; null for a file that a person added. */
  url: NullableText
})
export type Media = Static<typeof Media>

const Grant = Type.Object({ entity: Name, action: Name, own_only: Flag })

const Group = Type.Object({
  id: SourceId,
  name: Name,
  description: NullableText,
  color: NullableName,
  is_default: Flag,
  is_system: Flag,
  grants: Type.Array(Grant, { maxItems: 1_000 }),
  ...Times
})

const User = Type.Object({
  id: SourceId,
  username: Name,
  email: NullableName,
  /** The stored hash as it is: bcrypt or argon2id. Null if the source does not show hashes. */
  password_hash: NullableName,
  role: StringEnum(['admin', 'user']),
  is_enabled: Flag,
  /** A group of the list; null for the default group. */
  group_id: Nullable(SourceId),
  /** The name of a group of this server instead, for sources with roles and without groups. */
  group_name: NullableName,
  overrides: Type.Array(Type.Object({ ...Grant.properties, is_granted: Flag }), { maxItems: 1_000 }),
  avatar: Nullable(FileRef),
  ra_username: NullableName,
  ui_settings: Nullable(JsonObject),
  last_login: NullableTime,
  last_active: NullableTime,
  ...Times
})

const Platform = Type.Object({
  id: SourceId,
  /** The name of the platform folder, by which the platform is found here. */
  fs_slug: Name,
  /** The platform that the folder means; null if the source does not say. */
  slug: NullableName,
  name: NullableName,
  custom_name: NullableName,
  description: NullableText,
  ...Times
})

const RomFile = Type.Object({
  /** The id under which tracks of playlists name the file; null if the source has none. */
  id: Nullable(SourceId),
  /** The path inside the ROM's folder; the file name for a ROM of one file. */
  path: Name,
  size_bytes: NullableCount,
  crc: NullableName,
  md5: NullableName,
  sha1: NullableName
})

const Rom = Type.Object({
  id: SourceId,
  platform_id: SourceId,
  /** The name of the file or folder below the platform folder, by which the ROM is found here. */
  fs_name: Name,
  fs_size_bytes: NullableCount,
  /** Hashes of the ROM as a whole. */
  crc: NullableName,
  md5: NullableName,
  sha1: NullableName,
  files: Type.Array(RomFile, { maxItems: 100_000 }),
  /** Stored title and text, whoever set them. They apply where this server found nothing, or `locked` names them. */
  name: NullableName,
  name_sort_key: NullableName,
  summary: NullableText,
  /** Ids at providers, under this server's keys: `igdb`, `ss`, `ra`, … */
  provider_ids: Type.Record(Type.String({ maxLength: 64 }), Name),
  /** Values that a person set, under the names of `MANUAL_FIELDS`; null if nobody set any. */
  manual_metadata: Nullable(JsonObject),
  /** Fields above that a person set: `name`, `name_sort_key`, `summary`, or a provider's key. */
  locked: Type.Array(Name, { maxItems: 100 }),
  cover: Nullable(Media),
  manual: Nullable(Media),
  screenshots: Type.Array(Media, { maxItems: 1_000 }),
  /** Other media, under the names of `MediaKind`. */
  media: Type.Record(Type.String({ maxLength: 64 }), Media),
  ...Times
})

const Hidden = Type.Object({
  entity: StringEnum(['platforms', 'roms']),
  entity_id: SourceId,
  /** One of the two is null. */
  user_id: Nullable(SourceId),
  group_id: Nullable(SourceId)
})

const Mark = Type.Object({
  rom_id: SourceId,
  user_id: UserId,
  last_played: NullableTime,
  is_main_sibling: Flag,
  backlogged: Flag,
  now_playing: Flag,
  hidden: Flag,
  /** 0 to 10; 0 for none. */
  rating: Count,
  difficulty: Count,
  /** 0 to 100. */
  completion: Count,
  status: Nullable(StringEnum(['incomplete', 'finished', 'completed_100', 'retired', 'never_playing'])),
  ...Times
})

const Note = Type.Object({
  id: SourceId,
  rom_id: SourceId,
  user_id: UserId,
  title: Name,
  content: Text,
  is_public: Flag,
  tags: Type.Array(Name, { maxItems: 1_000 }),
  ...Times
})

const Device = Type.Object({
  id: SourceId,
  /** The UUID that the device's app stores; null for a new one. */
  device_id: Nullable(Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' })),
  user_id: UserId,
  name: NullableName,
  platform: NullableName,
  client: NullableName,
  client_version: NullableName,
  ip_address: NullableName,
  mac_address: NullableName,
  hostname: NullableName,
  client_device_identifier: NullableName,
  sync_mode: NullableName,
  sync_enabled: Flag,
  /** Settings as the source has them, secrets in plain text. Neither reader nor writer logs them. */
  sync_config: Nullable(JsonObject),
  last_seen: NullableTime,
  ...Times
})

const Asset = Type.Object({
  id: SourceId,
  kind: StringEnum(['save', 'state', 'screenshot']),
  /** Null if the ROM's row is gone; the two names then say which ROM it was. */
  rom_id: Nullable(SourceId),
  platform_fs_slug: NullableName,
  rom_fs_name: NullableName,
  user_id: UserId,
  file: FileRef,
  file_name: Name,
  emulator: NullableName,
  slot: NullableName,
  /** MD5 of the bytes, if the source stored one, for comparison. */
  md5: NullableName,
  is_public: Flag,
  is_gallery: Flag,
  device_id: Nullable(SourceId),
  ...Times
})

const DeviceSync = Type.Object({
  device_id: SourceId,
  /** A record of `asset` of the kind `save`. */
  asset_id: SourceId,
  last_synced_at: Time,
  is_untracked: Flag
})

const SyncSession = Type.Object({
  id: SourceId,
  device_id: SourceId,
  user_id: UserId,
  status: StringEnum(['pending', 'in_progress', 'completed', 'failed', 'cancelled']),
  operations_planned: Count,
  operations_completed: Count,
  operations_failed: Count,
  error_message: NullableText,
  initiated_at: NullableTime,
  completed_at: NullableTime,
  ...Times
})

const PlaySession = Type.Object({
  id: SourceId,
  user_id: UserId,
  device_id: Nullable(SourceId),
  rom_id: Nullable(SourceId),
  sync_session_id: Nullable(SourceId),
  save_slot: NullableName,
  start_time: Time,
  end_time: Time,
  duration_ms: Count,
  ...Times
})

const Token = Type.Object({
  id: SourceId,
  user_id: UserId,
  name: Name,
  /** SHA-256 of the whole token, in lower-case hexadecimal digits. */
  token_hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  scopes: Type.Array(Name, { maxItems: 100 }),
  device_id: Nullable(SourceId),
  expires_at: NullableTime,
  last_used_at: NullableTime,
  created_at: NullableTime
})

const Collection = Type.Object({
  id: SourceId,
  user_id: UserId,
  name: Name,
  description: NullableText,
  is_public: Flag,
  is_favorite: Flag,
  cover: Nullable(Media),
  rom_ids: Type.Array(SourceId, { maxItems: 1_000_000 }),
  ...Times
})

const SmartCollection = Type.Object({
  id: SourceId,
  user_id: UserId,
  name: Name,
  description: NullableText,
  is_public: Flag,
  /** The keys of `/api/collections/smart`, with ids of the source. */
  filter_criteria: JsonObject,
  ...Times
})

/** A track of a soundtrack: a file of a ROM. */
const Track = Type.Object({ rom_id: SourceId, path: Name })

const Playlist = Type.Object({
  id: SourceId,
  user_id: UserId,
  name: Name,
  description: NullableText,
  is_public: Flag,
  /** In their order. */
  tracks: Type.Array(Track, { maxItems: 100_000 }),
  ...Times
})

const FavoriteTrack = Type.Object({ user_id: UserId, track: Track })

/** Every kind of record, in the order in which an import reads them: a record names only records of kinds above it. */
export const RECORDS = {
  group: Group,
  user: User,
  platform: Platform,
  rom: Rom,
  hidden: Hidden,
  mark: Mark,
  note: Note,
  device: Device,
  asset: Asset,
  device_sync: DeviceSync,
  sync_session: SyncSession,
  play_session: PlaySession,
  token: Token,
  collection: Collection,
  smart_collection: SmartCollection,
  playlist: Playlist,
  favorite_track: FavoriteTrack
} as const satisfies Record<string, TObject>

export type RecordKind = keyof typeof RECORDS
export type ImportRecord<Kind extends RecordKind = RecordKind> = Static<typeof RECORDS[Kind]>
export const RECORD_KINDS = Object.keys(RECORDS) as RecordKind[]

/** One thing that an import leaves out, for its report. Neither name nor reason contains a secret. */
export interface Skipped {
  kind: RecordKind
  /** The id of the source; null if the record has none. */
  id: string | null
  /** A name that a person recognizes: a title, a path. */
  name: string | null
  reason: string
}

/** A source that cannot be opened or read on. The message ends with the remedy. */
export class SourceError extends Error {
  override name = 'SourceError'
}

/** A file that the source names and does not have. */
export class FileAbsentError extends Error {
  override name = 'FileAbsentError'
}

/** An open source. It stays consistent until it is closed, and nothing is written to it. */
export interface Importer {
  /**
   * The name of this installation of the source, equal in every import of it and different from that of any other.
   * Ids of earlier imports are stored under it.
   */
  readonly identity: string
  /** The program and its version, for the report: `RomM 5.2 (0107) in PostgreSQL`. */
  readonly title: string
  /** Kinds that this source cannot give, with the reason. Their lists are empty. */
  readonly absent: Readonly<Partial<Record<RecordKind, string>>>

  /**
   * Lists all records of a kind, ordered by id, without holding them all in memory. A record that the reader cannot
   * understand goes to `context.skip`. A nullable field that it cannot understand is null, with a warning.
   */
  list<Kind extends RecordKind>(kind: Kind): AsyncIterable<ImportRecord<Kind>>

  /** @throws FileAbsentError if there is no such file. */
  open(file: FileRef): Promise<Readable>

  close(): Promise<void>
}

/** The help that a reader gets from the host. */
export interface ImporterContext {
  /** Aborts when a person cancels the import. */
  readonly signal: AbortSignal
  readonly log: FastifyBaseLogger
  /** An empty folder on the disk of the data directory, deleted after the import. */
  readonly workFolder: string
  skip(skipped: Skipped): void
  /** Adds a sentence to the report. It contains no secret. */
  warn(text: string): void
}

/** One setting of an importer: `svc import <key> --<name>`, with dashes for underscores. */
export interface ImporterOption {
  readonly description: string
  /** A secret is read from the configuration or from the file of `--<name>-file` only, and is stored sealed. */
  readonly secret?: true
  /** True if the import cannot run without it. */
  readonly required?: true
  /** True for a path, which the command line resolves from its own folder. */
  readonly isPath?: true
}

export type ImporterSettings = Readonly<Record<string, string | undefined>>

/** A program whose library can be imported. Each has a folder with an `importer.ts` and a line in `importers.ts`. */
export interface ImporterDefinition {
  /** The name of the command and of the task's source: `romm`, `gamelist`. */
  readonly key: string
  readonly title: string
  /** The names are in snake_case. */
  readonly options: Readonly<Record<string, ImporterOption>>
  /**
   * @param settings one text for each option that was given.
   * @throws SourceError if the source cannot be opened or is too old.
   */
  open(settings: ImporterSettings, context: ImporterContext): Promise<Importer>
}
