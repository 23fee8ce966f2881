/** Corrects Swagger UI's own style sheet on the pages of `docsRoutes`. */
export const docsStyle = `
html { background: #fff; --accent: #2450c4; --go: #14734a; --warn: #a8121f; --soft: #565c68; }
html.dark-mode { background: #1c2022; --accent: #9db8ff; }
body { margin: 0; }
noscript p { margin: 2rem auto; max-width: 40rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }

/* It takes the outlines of its controls away. */
.swagger-ui :focus-visible { outline: 3px solid var(--accent) !important; outline-offset: 1px; }

/* There is one server, and no operation has links. */
.swagger-ui .scheme-container .servers-title, .swagger-ui .scheme-container .servers,
.swagger-ui .response-col_links { display: none; }
.swagger-ui .scheme-container { padding: 20px 0; }
.swagger-ui .info { margin: 30px 0 20px; }
.swagger-ui .filter .operation-filter-input { box-sizing: border-box; max-width: none; }

/* Its light colours are too pale to read. */
.swagger-ui .opblock .opblock-summary-method { color: #080a0b; text-shadow: none; }
html:not(.dark-mode) .swagger-ui .info .title small { background: var(--soft); }
html:not(.dark-mode) .swagger-ui .info .title small.version-stamp { background: var(--go); }
html:not(.dark-mode) .swagger-ui :is(.info a, .info .link) { color: var(--accent); }
html:not(.dark-mode) .swagger-ui .btn.authorize { border-color: var(--go); color: var(--go); }
html:not(.dark-mode) .swagger-ui .btn.authorize svg { color: var(--go); fill: var(--go); }
html:not(.dark-mode) .swagger-ui .btn.execute { background: var(--accent); border-color: var(--accent); }
html:not(.dark-mode) .swagger-ui .btn.cancel { border-color: var(--warn); color: var(--warn); }
html:not(.dark-mode) .swagger-ui :is(.parameter__in, .parameter__extension) { color: var(--soft); }
html:not(.dark-mode) .swagger-ui .parameter__name.required:after,
html:not(.dark-mode) .swagger-ui .opblock-section-request-body .required { color: var(--warn); }

@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 12px; }
  .swagger-ui .opblock-description-wrapper, .swagger-ui .responses-inner { padding: 12px; }
  .swagger-ui table.responses-table :is(td, th) { padding-right: 0; }
}
`;
