export { Type, type Static } from '@sinclair/typebox'
export type { Cache, Context, FileEntry, Files, HttpClient, HttpResponse, Logger, Preferences, RequestOptions }
  from './context.ts'
export {
  CredentialsRefusedError, DeliveryRefusedError, HttpStatusError, InvalidSettingsError, RateLimitedError,
  ServiceDownError
} from './errors.ts'
export { GameFieldsSchema, MatchSchema, MEDIA_KINDS, MediaSchema } from './metadata.ts'
export type { ArchiveMember, GameFields, Hashes, Match, Media, MediaKind, ProviderId, Rom, RomFile, RomPlatform }
  from './metadata.ts'
export { ManifestSchema, type Manifest } from './manifest.ts'
export { SDK_VERSION, type HostOptions, type Plugin, type PluginDefinition, type PluginKind } from './plugin.ts'
export { defineProvider, type Provider, type ProviderDefinition, type SearchQuery } from './provider.ts'
export { defineChannel, type Channel, type ChannelDefinition, type NotificationLevel, type OutgoingNotification }
  from './channel.ts'
export {
  defineExporter, type ExportGame, type Exporter, type ExporterDefinition, type ExportPlatform,
  type ExportResult
} from './exporter.ts'
export { PLATFORMS, platformIds, type PlatformFacts } from './platforms.ts'
export {
  compareTitles, findBestTitle, normalizeTitle, toSearchTerm, type BestTitle, type BestTitleOptions,
  type TitleOptions
} from './titles.ts'
export { createXmlElement, parseXml, parseXmlFragment, readXmlRecords, renderXml, xmlChildren, XmlError, xmlText }
  from './xml.ts'
export type { XmlComment, XmlElement, XmlInstruction, XmlNode, XmlOptions, XmlText } from './xml.ts'
export {
  isFields, readFields, readId, readInteger, readNames, readNumber, readText, toFieldsList, unique, type Fields
} from './payload.ts'
export { minimumAge } from './ages.ts'
