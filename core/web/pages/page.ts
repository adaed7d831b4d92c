import { readFile } from 'node:fs/promises'
import type { Config } from '../../config/config.ts'
import { basePath } from '../../config/base-url.ts'
import type { Routes } from '../../typebox.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a page of a link, in whose place the web pages of the server show their own view to browsers. */
    isLinkedPage?: boolean
  }
}

export interface Page {
  /** The URL of the page; its script and style sheet are beside it. */
  path: string
  /** Contains `<name>.html`, in which `{{base}}` stands for the path of the base URL. */
  folder: URL
  name: string
  script: URL
}

/** Sends a page's form with the token of its link: `data-path` is the route, `data-done` the text after success. */
export const LINK_FORM = new URL('link-form.js', import.meta.url)

/**
 * Creates the route of a page that is opened by a link, on a server without a frontend. All pages share the style
 * sheet.
 */
export const createPageRoutes = (config: Config, { path, folder, name, script }: Page): Routes => async (app) => {
  const html = (await readFile(new URL(`${name}.html`, folder), 'utf8')).replaceAll('{{base}}', basePath(config))
  const files = [
    { url: path, type: 'text/html; charset=utf-8', content: html },
    { url: `${path}.js`, type: 'text/javascript; charset=utf-8', content: await readFile(script) },
    { url: `${path}.css`, type: 'text/css; charset=utf-8', content: await readFile(new URL('page.css', import.meta.url)) }
  ]
  for (const { url, type, content } of files) {
    app.get(url, { schema: { hide: true }, config: { public: true, isLinkedPage: url === path } },
      async (_request, reply) => reply.type(type).header('cache-control', 'no-cache').send(content))
  }
}
