import { type Fields, readText, readUrl, toFieldsList, unique, youtubeVideoId } from '@svc/plugin-sdk/readers'
import type { Production } from './api.ts'

const POUET_ID = /pouet\.net\/prod\.php\?(?:[^#\s]*&)?which=(\d{1,15})/i
const CSDB_ID = /csdb\.dk\/release\/(?:(?:index\.php)?\?(?:[^#\s]*&)?id=)?(\d{1,15})/i

/** Reads the links to other sites. `download_urls` lists all other pages, then the files. */
export function readLinks (production: Production) {
  const external = toFieldsList(production.external_links)
  const pouet = findLink(external, 'PouetProduction', POUET_ID)
  const csdb = findLink(external, 'CsdbRelease', CSDB_ID)
  const urls = external.map((link) => readUrl(link, 'url')).filter((url) => url !== undefined)
  const videos = urls.filter((url) => youtubeVideoId(url) !== undefined)
  const named = new Set([pouet.url, csdb.url, ...videos])
  const files = toFieldsList(production.download_links).map((link) => readUrl(link, 'url'))
  return {
    pouet_id: pouet.id,
    pouet_url: pouet.url,
    csdb_id: csdb.id,
    csdb_url: csdb.url,
    youtube_video_id: youtubeVideoId(videos[0] ?? ''),
    download_urls: unique([...urls.filter((url) => !named.has(url)), ...files])
  }
}

function findLink (links: readonly Fields[], kind: string, pattern: RegExp): { id?: number, url?: string } {
  for (const link of links) {
    const url = readText(link, 'link_class') === kind ? readUrl(link, 'url') : undefined
    const id = Number(pattern.exec(url ?? '')?.[1] ?? 0)
    if (url !== undefined && id > 0) return { id, url }
  }
  return {}
}
