import type { ComponentChildren } from 'preact'

interface SectionProps { title: string, note?: string, action?: ComponentChildren, children: ComponentChildren }

/** A part of the page with its heading. */
export const Section = ({ title, note, action, children }: SectionProps) => (
  <section class='rom-section'>
    <div class='rom-section-head'><h2>{title}</h2>{note !== undefined && <span class='faint'>{note}</span>}{action}</div>
    {children}
  </section>
)
