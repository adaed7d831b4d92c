import type { FileHandle } from 'node:fs/promises'
import { parentPort } from 'node:worker_threads'
import { type IAudioMetadata, type ICommonTagsResult, parseFromTokenizer } from 'music-metadata'
import { FileTokenizer } from 'strtok3'
import type { Picture, Tags, TagsAnswer, TagsJob } from './protocol.ts'

const TEXT_MAX = 500
/** Track and disc numbers above this limit are ignored. */
const NUMBER_MAX = 1_000_000
const EXTENSIONS: ReadonlyMap<string, Picture['extension']> = new Map([
  ['image/jpeg', 'jpg'], ['image/jpg', 'jpg'], ['image/png', 'png']
])

/** Reads an open handle, which was checked to be in an allowed folder. No path is resolved a second time. */
class HandleTokenizer extends FileTokenizer {
  constructor (handle: FileHandle, path: string, size: number) {
    super(handle, { fileInfo: { path, size } })
  }
}

const textOf = (value: string | undefined) =>
  value?.replaceAll('\0', '').trim().slice(0, TEXT_MAX).toWellFormed() || null

const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0 && value <= NUMBER_MAX
const numberOf = (value: number | null) => value !== null && isCount(value) ? value : null

function yearOf ({ date, year }: ICommonTagsResult): number | null {
  const digits = /\d{4}/.exec(date ?? String(year ?? ''))
  return digits === null ? null : Number(digits[0])
}

function toTags ({ common, format: { duration } }: IAudioMetadata): Tags {
  return {
    title: textOf(common.title),
    artist: textOf(common.artist),
    album: textOf(common.album),
    genre: textOf(common.genre?.join(', ')),
    year: yearOf(common),
    track: numberOf(common.track.no),
    disc: numberOf(common.disk.no),
    duration_seconds: Number.isFinite(duration) ? Math.round((duration ?? 0) * 1_000) / 1_000 : null,
    has_embedded_cover: (common.picture?.length ?? 0) > 0
  }
}

function toPicture ({ common: { picture: pictures = [] } }: IAudioMetadata): Picture | null {
  for (const { format, data } of pictures) {
    const extension = EXTENSIONS.get(format.toLowerCase())
    if (extension !== undefined) return { extension, content: data }
  }
  return null
}

/**
 * True if the content is audio. The parser accepts other files with an audio file name, but finds neither tags nor
 * duration.
 */
const isAudio = ({ format, native }: IAudioMetadata) => (format.duration ?? 0) > 0 || Object.keys(native).length > 0

async function read ({ handle, file_name: name, file_size_bytes: size }: TagsJob): Promise<TagsAnswer> {
  const tokenizer = new HandleTokenizer(handle, name, size)
  try {
    const parsed = await parseFromTokenizer(tokenizer, { duration: true })
    if (!isAudio(parsed)) return null
    return { tags: toTags(parsed), picture: toPicture(parsed) }
  } catch {
    return null
  } finally {
    await tokenizer.close()
  }
}

parentPort?.on('message', (job: TagsJob) => {
  void read(job).then((answer) => { parentPort?.postMessage(answer) })
})
