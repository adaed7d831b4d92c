import type { Static, TObject, TProperties } from '@sinclair/typebox'
import type { Context } from './context.ts'
import type { KnownFields, MediaKind } from './metadata.ts'
import type { Plugin, PluginDefinition } from './plugin.ts'

/** The platform whose file is written. */
export interface ExportPlatform {
  readonly slug: string
  readonly fs_slug: string
  /** The display name: the platform's custom name, else the canonical one. */
  readonly name: string
}

/** One ROM to export. Text is not escaped. */
export interface ExportGame extends Pick<KnownFields, 'genres' | 'franchises' | 'companies' | 'developers' |
  'publishers' | 'regions' | 'languages'> {
  readonly rom_id: number
  /** Relative to the platform folder, forward slashes, no leading `./`. */
  readonly path: string
  /**
   * The path at which the last export wrote the game, if the game has another one now and no game has this one. The
   * entry with this path becomes that of `path`, with all that frontends and people added to it.
   */
  readonly former_path?: string
  /** File or folder name, with extension. */
  readonly fs_name: string
  readonly fs_name_no_tags: string
  /** Display name; the file name without tags when nothing better is known. */
  readonly name: string
  /** False if `name` is only that of the file. A name that a person wrote into the existing text then stays. */
  readonly is_named?: boolean
  readonly summary: string | null
  readonly tags: readonly string[]
  readonly player_count: string | null
  /** Milliseconds since 1970-01-01 UTC. */
  readonly first_release_date: number | null
  /** From 0 to 100. */
  readonly average_rating: number | null
  /** Result of the comparison with DAT files, if there is one; `misnamed` is a good dump under another name. */
  readonly dump_status?: 'verified' | 'misnamed' | 'bad' | 'unknown'
  /** Media that the host stored on disk, by kind: paths relative to the platform folder, no leading `./`. */
  readonly media: Readonly<Partial<Record<MediaKind, string>>>
  /**
   * All files in the media folders that have the game's name, also those of the user's own scraper. References to them
   * in the existing text stay. Paths relative to the platform folder.
   */
  readonly media_files?: readonly string[]
}

/** The result of an export. */
export interface ExportResult {
  /** The whole new file. Equal to the existing text if nothing changed. */
  text: string
  /** ROMs that the format cannot hold, with the reason. */
  skipped: { rom_id: number, reason: string }[]
}

/** A frontend's file format: turns games and the existing text into text. The host does every disk write. */
export interface ExporterDefinition<Config extends TProperties = TProperties>
  extends PluginDefinition<Config> {
  /** Schema of the section `scan.<key>` of the configuration, apart from its `export` switch. */
  config?: TObject<Config>
  /** The name of the file in every platform folder. No other exporter may have it. */
  fileName: string
  /**
   * The last part of `POST /api/export/<route>`: lower-case letters, digits and `-`; default the key. No other exporter
   * may have it.
   */
  route?: string
  /** The media to publish beside the ROMs: kind → folder in the platform folder. Exporters share equal folders. */
  media: Readonly<Partial<Record<MediaKind, string>>>

  /** @throws Error when `existing` cannot be parsed; the host then leaves the file unchanged. */
  render(platform: ExportPlatform, games: readonly ExportGame[], existing: string | null,
    ctx: Context<Static<TObject<Config>>>): Promise<ExportResult>
}

/** An exporter of any type, as a package exports it. */
export type Exporter = Plugin<'exporter', ExporterDefinition>

/** Declares a frontend format. */
export function defineExporter<Config extends TProperties = TProperties> (
  definition: ExporterDefinition<Config>
): Plugin<'exporter', ExporterDefinition<Config>> {
  return { kind: 'exporter', definition }
}
