import { type Package, contentIdOf, readPackages, titleOf } from '../packages.ts'
import type { Links } from '../links.ts'
import type { Feed } from '../pages.ts'
import { joinLines, toTabLine } from '../text.ts'

type Column = (one: Package, links: Links) => string | number

const none: Column = () => ''

/** The value of each column, by its heading. The SHA-256 column contains the SHA-1, because no other hash is stored. */
const COLUMNS = {
  'Title ID': none,
  Region: ({ rom }) => rom.region ?? '',
  Type: () => 'PSP',
  Name: ({ file }) => titleOf(file),
  'PKG direct link': ({ file }, links) => links.file(file),
  zRIF: none,
  'Content ID': ({ file }) => contentIdOf(file),
  'Last Modification Date': ({ file }) => new Date(file.updated_at).toISOString().slice(0, 19).replace('T', ' '),
  'Original Name': none,
  RAP: ({ license }) => license?.sha1_hash ?? '',
  'Download .RAP file': ({ license }, links) => license === null ? '' : links.file(license),
  'File Size': ({ file }) => file.file_size_bytes,
  SHA256: ({ file }) => file.sha1_hash,
  'Required FW': none,
  'App Version': none
} as const satisfies Record<string, Column>

export interface PkgjKind {
  platform: 'psp' | 'psvita' | 'psx'
  content_type: 'game' | 'dlc'
  headings: readonly (keyof typeof COLUMNS)[]
}

/** The lists that PKGj reads, by their path below `/api/feeds/pkgj/`. */
export const PKGJ_KINDS = {
  'psp/games': {
    platform: 'psp',
    content_type: 'game',
    headings: ['Title ID', 'Region', 'Type', 'Name', 'PKG direct link', 'Content ID', 'Last Modification Date', 'RAP',
      'Download .RAP file', 'File Size', 'SHA256']
  },
  'psp/dlc': {
    platform: 'psp',
    content_type: 'dlc',
    headings: ['Title ID', 'Region', 'Name', 'PKG direct link', 'Content ID', 'Last Modification Date', 'RAP',
      'Download .RAP file', 'File Size', 'SHA256']
  },
  'psvita/games': {
    platform: 'psvita',
    content_type: 'game',
    headings: ['Title ID', 'Region', 'Name', 'PKG direct link', 'zRIF', 'Content ID', 'Last Modification Date',
      'Original Name', 'File Size', 'SHA256', 'Required FW', 'App Version']
  },
  'psvita/dlc': {
    platform: 'psvita',
    content_type: 'dlc',
    headings: ['Title ID', 'Region', 'Name', 'PKG direct link', 'zRIF', 'Content ID', 'Last Modification Date', 'File Size',
      'SHA256']
  },
  'psx/games': {
    platform: 'psx',
    content_type: 'game',
    headings: ['Title ID', 'Region', 'Name', 'PKG direct link', 'Content ID', 'Last Modification Date', 'Original Name',
      'File Size', 'SHA256']
  }
} as const satisfies Record<string, PkgjKind>

async function * toLines (feed: Feed, { content_type: contentType, headings }: PkgjKind): AsyncGenerator<string[]> {
  for await (const packages of readPackages(feed, contentType, headings.includes('RAP'))) {
    yield packages.map((one) => toTabLine(headings.map((heading) => COLUMNS[heading](one, feed.links))))
  }
}

/** Writes a list for PKGj: https://github.com/blastrock/pkgj#q-where-to-find-pkg-lists */
export const writePkgj = (feed: Feed, kind: PkgjKind): AsyncGenerator<string> =>
  joinLines([toTabLine(kind.headings)], toLines(feed, kind))
