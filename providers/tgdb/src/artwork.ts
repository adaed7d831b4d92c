import type { Media, MediaKind } from '@svc/plugin-sdk'
import { type Fields, isFields, readFields, readText, toFieldsList } from '@svc/plugin-sdk/readers'
import { fetchOptionalData } from './api.ts'
import type { TgdbContext } from './config.ts'

const PICTURE_KINDS: readonly (readonly [type: string, MediaKind])[] = [['screenshot', 'screenshot'],
  ['titlescreen', 'title_screen'], ['clearlogo', 'logo'], ['fanart', 'fanart'], ['banner', 'marquee']]
const KINDS = new Map<string, MediaKind>([...PICTURE_KINDS, ['boxart front', 'cover'], ['boxart back', 'box2d_back']])

/** Lists the pictures of a game in the preferred media kinds; kinds other than boxes take a separate request. */
export async function listPictures (id: number, include: Fields, ctx: TgdbContext): Promise<Media[]> {
  const types = PICTURE_KINDS.filter(([, kind]) => ctx.preferences.media.includes(kind)).map(([type]) => type)
  if (types.length === 0) return readBoxes(id, include)
  const data = await fetchOptionalData(ctx, '/v1/Games/Images', 'images', { games_id: id, 'filter[type]': types.join(',') })
  return [...readBoxes(id, include), ...toMedia(readFields(data, 'images')?.[id], data)]
}

/** Reads front and back of the box from the `include` part of a response. */
export function readBoxes (id: number, include: Fields): Media[] {
  const boxart = readFields(include, 'boxart') ?? {}
  return toMedia((readFields(boxart, 'data') ?? boxart)[id], boxart)
}

function toMedia (pictures: unknown, { base_url: bases }: Fields): Media[] {
  const base = (isFields(bases) && readText(bases, 'original')) || ''
  return toFieldsList(pictures).flatMap((picture) => {
    const kind = KINDS.get(picture.type === 'boxart' ? `boxart ${String(picture.side)}` : String(picture.type))
    const file = readText(picture, 'filename')
    return kind === undefined || file === undefined || !URL.canParse(base) ? [] : [{ kind, url: base + file }]
  })
}
