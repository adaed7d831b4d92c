import { posix } from 'node:path'
import type { FileEntry } from '@svc/plugin-sdk'
import type { LaunchBoxContext } from './config.ts'
import { type Image, LOCAL_CATEGORIES, sortLocalImages } from './images.ts'
import { toFileName, toStemKey } from './names.ts'

const PICTURE = /\.(?:png|jpe?g|webp)$/i
const DOCUMENT = /\.pdf$/i
const FILM = /\.(?:mp4|webm|avi|mkv|mov|wmv)$/i
const NUMBER = /-\d+$/
/** The text that may follow the title in a manual's name, such as ` (USA)`. A further word belongs to another game. */
const MORE = /^_?[-([.]/

type ByStem = ReadonlyMap<string, readonly Image[]>

/** The files of a game in the installation. */
export interface LocalFiles { readonly images: readonly Image[], readonly manual?: string, readonly video?: string }

/** Finds the files that are named like the ROM or its title. */
export async function findFiles (
  names: readonly string[], platform: string | undefined, ctx: LaunchBoxContext
): Promise<LocalFiles> {
  if (platform === undefined) return { images: [] }
  const { images, manuals, videos } = await ctx.memo(`files ${platform}`, () => listFiles(toFileName(platform), ctx))
  const stems = [...new Set(names.map(toStemKey))].filter((stem) => stem !== '')
  const find = (files: ByStem) => stems.flatMap((stem) => files.get(stem) ?? [])
  const isLonger = (name: string) => stems.some((stem) => name.startsWith(stem) && MORE.test(name.slice(stem.length)))
  const [longer] = [...manuals].find(([name]) => isLonger(name))?.[1] ?? []
  const [manual = longer] = find(manuals)
  return { images: sortLocalImages(find(images)), manual: manual?.url, video: find(videos)[0]?.url }
}

async function listFiles (platform: string, ctx: LaunchBoxContext) {
  const images = `Images/${platform}`
  const categories = (await listFolder(images, ctx)).filter(({ name }) => LOCAL_CATEGORIES.has(name))
  const pictures = await Promise.all(categories.map(({ name }) => listImages(images, name, ctx)))
  const [manuals = [], videos = []] = await Promise.all(['Manuals', 'Videos'].map(async (type) =>
    toImages(`${type}/${platform}`, await listFolder(`${type}/${platform}`, ctx), { type })))
  return {
    images: groupByStem(pictures.flat(), PICTURE),
    manuals: groupByStem(manuals, DOCUMENT),
    videos: groupByStem(videos, FILM)
  }
}

/** Lists a folder. A folder that cannot be listed only costs its own files. */
async function listFolder (path: string, ctx: LaunchBoxContext): Promise<readonly FileEntry[]> {
  try {
    return await ctx.folders.installation?.list(path) ?? []
  } catch (err) {
    ctx.signal.throwIfAborted()
    ctx.log.warn({ err, folder: path }, 'folder of LaunchBox cannot be listed; its media are skipped')
    return []
  }
}

/** Lists the pictures of a category, which may have a subfolder for each region. */
async function listImages (parent: string, type: string, ctx: LaunchBoxContext): Promise<Image[]> {
  const folder = `${parent}/${type}`
  const entries = await listFolder(folder, ctx)
  const regions = await Promise.all(entries.filter(({ kind }) => kind === 'folder').map(async ({ name: region }) =>
    toImages(`${folder}/${region}`, await listFolder(`${folder}/${region}`, ctx), { type, region })))
  return [...toImages(folder, entries, { type }), ...regions.flat()]
}

function toImages (folder: string, entries: readonly FileEntry[], about: Omit<Image, 'url'>): Image[] {
  return entries.filter(({ kind, size }) => kind === 'file' && size > 0)
    .map(({ name }) => ({ ...about, url: `folder://installation/${folder}/${name}` }))
}

/** Groups files by stem, as written and without the number that distinguishes pictures of one game. */
function groupByStem (images: readonly Image[], type: RegExp): ByStem {
  const groups = new Map<string, Image[]>()
  for (const image of images) {
    if (!type.test(image.url)) continue
    const { name } = posix.parse(image.url)
    for (const key of new Set([toStemKey(name), toStemKey(name.replace(NUMBER, ''))])) {
      groups.set(key, [...groups.get(key) ?? [], image])
    }
  }
  return groups
}
