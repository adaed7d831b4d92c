import { readFile } from 'node:fs/promises'
import { type Config, basePath } from '../../config/config.ts'
import type { Routes } from '../../typebox.ts'

export interface Page {
  /** Where it is served; its script and style sheet beside it. */
  path: string
  /** Holds `<name>.html`, in which `{{base}}` stands for the path of the base URL. */
  folder: URL
  name: string
  script: URL
}

/** Sends a page's form with the token of its link: `data-path` says where to, `data-done` what to say then. */
export const LINK_FORM = new URL('link-form.js', import.meta.url)

/** The route of a page for people who have but a link, on a server without a frontend. The style is all pages'. */
export const createPageRoutes = (config: Config, { path, folder, name, script }: Page): Routes => async (app) => {
  const html = (await readFile(new URL(`${name}.html`, folder), 'utf8')).replaceAll('{{base}}', basePath(config))
  const files = [
    { url: path, type: 'text/html; charset=utf-8', content: html },
    { url: `${path}.js`, type: 'text/javascript; charset=utf-8', content: await readFile(script) },
    { url: `${path}.css`, type: 'text/css; charset=utf-8', content: await readFile(new URL('page.css', import.meta.url)) }
  ]
  for (const { url, type, content } of files) {
    app.get(url, { schema: { hide: true }, config: { public: true } },
      async (_request, reply) => reply.type(type).header('cache-control', 'no-cache').send(content))
  }
}
