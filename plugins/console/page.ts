import { FILES_PATH } from './addresses.ts'
import type { Bundle } from './bundle/bundle.ts'

/**
 * Scripts, styles and pictures come from this server only, and no script or style stands in a page. Pictures that
 * people chose but did not send yet are blobs. The one policy of Trusted Types allows only the address of the worker
 * that reads manuals (web/pages/rom/manual/pdf-worker.ts).
 */
export const POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' blob: data:", "media-src 'self' blob:",
  "font-src 'self'", "manifest-src 'self'", "worker-src 'self'", "base-uri 'self'", "form-action 'self'", "frame-ancestors 'none'",
  "require-trusted-types-for 'script'", 'trusted-types svc-pdf-worker'
].join('; ')

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** Creates the page in which the console runs. Its addresses are relative to the path of the base URL. */
export function createPage (base: string, { entry, styles, preloads, icon }: Bundle): string {
  const file = (name: string) => `${FILES_PATH.slice(1)}/${escape(name)}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<base href="${escape(base)}/">
<title>svc</title>
<link rel="icon" type="image/svg+xml" href="${file(icon)}">
<link rel="stylesheet" href="${file(styles)}">
${preloads.map((name) => `<link rel="modulepreload" href="${file(name)}">\n`).join('')}<script type="module" src="${file(entry)}"></script>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript. Allow it for this address, then load the page again.</noscript>
</body>
</html>
`
}
