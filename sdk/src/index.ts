export { Type, type Static } from '@sinclair/typebox'
export type {
  Cache, Context, ContextOf, FileEntry, Files, HttpClient, HttpResponse, Index, IndexEntry, Logger, Preferences,
  ProviderContext, ProviderContextOf, RequestOptions, ZipMember
} from './context.ts'
export {
  CredentialsRefusedError, DeliveryRefusedError, HttpStatusError, InvalidSettingsError, RateLimitedError,
  ServiceDownError
} from './errors.ts'
export type { Allowance, Limits, Rate } from './limits.ts'
export { GameFieldsSchema, MatchSchema, MEDIA_KINDS, MediaSchema } from './metadata.ts'
export type {
  ArchiveMember, GameFields, Hashes, LinkedIds, LinkMatch, Match, Media, MediaKind, ProviderId, Rom, RomFile,
  RomPlatform
} from './metadata.ts'
export { contentHashes } from './hashes.ts'
export {
  HASH_KINDS, HashStepSchema, LookupCandidateSchema, LookupStepSchema, SearchStepSchema, SidecarStepSchema,
  listHashKinds, type HashKind, type LookupCandidate, type LookupStep, type SearchStep
} from './lookup-step.ts'
export { ManifestSchema, type Manifest } from './manifest.ts'
export { SDK_VERSION, type Plugin, type PluginDefinition, type PluginKind } from './plugin.ts'
export { PLAY_STATUSES, defineProvider } from './provider.ts'
export type {
  CoverChoice, CoverGroup, FetchedMedia, GameProgress, PlatformEntry, PlatformRecord, PlayStatus, Provider,
  ProviderDefinition, ProviderIdType, ProviderIndex, ProviderKind, ProviderMedia, ProviderOrder, ProviderProgress,
  SearchQuery, TitleTable
} from './provider.ts'
export {
  defineChannel, type Channel, type ChannelDefinition, type NotificationLevel, type OutgoingNotification, type ParsedUrl
} from './channel.ts'
export {
  defineExporter, type ExportGame, type Exporter, type ExporterDefinition, type ExportPlatform,
  type ExportResult
} from './exporter.ts'
export { formerGameName, gameFolder, isDeletedMedia } from './exported-files.ts'
export { PLATFORMS, listPlatformIds, platformIds, type PlatformFacts } from './platforms.ts'
export { minimumAge, strictestAge } from './ages.ts'
export { languageName, regionCode, regionName } from './regions.ts'
