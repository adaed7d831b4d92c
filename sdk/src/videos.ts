const YOUTUBE =
  /^https?:\/\/(?:(?:www\.|m\.)?youtube(?:-nocookie)?\.com\/(?:watch\?(?:[^#\s]*&)?v=|embed\/|shorts\/|live\/|v\/)|youtu\.be\/)([\w-]+)/i

/** The id of the YouTube video that an address leads to, or undefined. */
export function youtubeVideoId (url: string): string | undefined {
  return YOUTUBE.exec(url)?.[1]
}
