/** One leading slash, and no character that browsers drop or treat as a slash. */
const PATH = /^\/(?!\/)[^\\\p{Cc}\p{Cs}]*$/u
/** Dot segments, also encoded as browsers understand them. They would lead out of the base path of the server. */
const DOTS = /\/(?:\.|%2e){1,2}(?:\/|$)/i

function isPath (text: string): boolean {
  const [path = ''] = text.split(/[?#]/)
  return PATH.test(text) && !DOTS.test(path)
}

function decode (text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** True if a link stays inside the service, even after it was decoded once. */
export function isInternalLink (link: string): boolean {
  const decoded = decode(link)
  return !/\s/.test(link) && isPath(link) && decoded !== null && isPath(decoded)
}
