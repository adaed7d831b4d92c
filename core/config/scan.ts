import { MEDIA_KINDS } from '@svc/plugin-sdk'
import { Type } from '@sinclair/typebox'
import { Names, Section, TIMER_MAX_SECONDS } from './setting.ts'
import { StringEnum } from '../typebox.ts'

/** Providers of text, most trusted first, if the configuration names none. */
const METADATA_PRIORITY = ['igdb', 'moby', 'ss', 'ra', 'launchbox', 'gamelist', 'hasheous', 'tgdb', 'flashpoint', 'hltb']
/** Providers of artwork, most trusted first, if the configuration names none. */
const ARTWORK_PRIORITY = ['sgdb', 'igdb', 'moby', 'ss', 'libretro', 'ra', 'launchbox', 'gamelist', 'hasheous', 'tgdb',
  'flashpoint', 'hltb']

const Override = (what: string) => Type.Optional(Type.Array(Type.String({ minLength: 1 }), {
  description: `Providers of ${what}, most trusted first, instead of the order of artwork; others follow`
}))

/** Scans. Core reads the section too: plugins get its preferences, and exporters their settings in it. */
export const ScanSchema = Type.Object({
  priority: Section({
    metadata: Names('Providers of text, most trusted first; others follow', METADATA_PRIORITY),
    artwork: Names('Providers of artwork, most trusted first; others follow', ARTWORK_PRIORITY),
    cover: Override('covers'),
    screenshot: Override('screenshots'),
    manual: Override('manuals'),
    region: Names('Region codes, most wanted first', ['us', 'wor', 'ss', 'eu', 'jp'], { env: 'SCAN_REGION_PRIORITY' }),
    region_mode: StringEnum(['prefer_rom_tags', 'prefer_config'],
      { default: 'prefer_rom_tags', description: "prefer_rom_tags: a ROM's own regions go before the list" }),
    language: Names('Language codes, most wanted first', ['en'], { env: 'SCAN_LANGUAGE_PRIORITY' })
  }),
  media: Type.Array(StringEnum(MEDIA_KINDS), {
    default: ['box2d', 'screenshot', 'manual'], description: 'Media stored besides the cover'
  }),
  workers: Type.Integer({
    default: 256,
    minimum: 1,
    maximum: 4096,
    env: 'SCAN_WORKERS',
    description: 'ROMs that are looked up at once; bounds how far fast providers run ahead of a slow or paused one'
  }),
  hash_threads: Type.Integer({
    default: 0, minimum: 0, maximum: 64, env: 'SVC_HASH_THREADS', description: 'Threads that hash; 0 means one per core'
  }),
  timeout_seconds: Type.Integer({
    default: 14400,
    minimum: 1,
    maximum: TIMER_MAX_SECONDS,
    env: 'SCAN_TIMEOUT',
    description: 'Maximum duration of a scan in seconds'
  }),
  archive_timeout_seconds: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: TIMER_MAX_SECONDS,
    env: 'SEVEN_ZIP_TIMEOUT',
    description: 'Maximum time to read one archive, in seconds'
  })
}, { default: {}, additionalProperties: Type.Object({}), description: 'Scans; a section per exporter with its `export` switch' })
