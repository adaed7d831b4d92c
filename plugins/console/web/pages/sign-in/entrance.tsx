import type { ComponentChildren } from 'preact'
import { useTitle } from '../../navigate.ts'

const icon = (): string => document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? ''

/** The card of a page outside of the frame: sign-in, first account, links from mails. */
export function Entrance ({ title, text, children }: { title: string, text?: string, children: ComponentChildren }) {
  useTitle(title)
  return (
    <main class='entrance' id='main'>
      <div class='entrance-card'>
        <div class='entrance-head'>
          <img src={icon()} alt='' />
          <h1>{title}</h1>
          {text !== undefined && <p class='soft'>{text}</p>}
        </div>
        {children}
      </div>
    </main>
  )
}
