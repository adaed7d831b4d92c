const YOUTUBE =
  /^https?:\/\/(?:(?:www\.|m\.)?youtube(?:-nocookie)?\.com\/(?:watch\?(?:[^#\s]*&)?v=|embed\/|shorts\/|live\/|v\/)|youtu\.be\/)([\w-]+)/i

/** Returns the id of the YouTube video at a URL, or undefined. */
export function youtubeVideoId (url: string): string | undefined {
  return YOUTUBE.exec(url)?.[1]
}
