//! Whether columns have the roles that the auditor or the owner says they must have. The tables alone cannot show it: a
//! column whose values matter looks the same as one whose values do not.

use chrysalis_audit::Check;
use chrysalis_release::{Manifest, RoleName};

use crate::Recipe;

/// LEAK: a sensitive column declared in another role is published unprotected, beside a column that is protected well.
pub(super) fn check(manifest: &Manifest, sensitive: &[String], asked: Option<&Recipe>) -> Option<Check> {
    if sensitive.is_empty() && asked.is_none() {
        return None;
    }
    let (mut fine, mut findings) = (Vec::new(), Vec::new());
    for name in sensitive {
        match manifest.attribute(name).map(|attribute| attribute.role) {
            None => fine.push(format!("`{name}` is not published")),
            Some(RoleName::Sensitive) => fine.push(format!("`{name}` is sensitive")),
            Some(role) => findings.push(format!("`{name}` must be protected, but the release {}", shown(role))),
        }
    }
    if let Some(asked) = asked {
        let known = findings.len();
        for attribute in &manifest.attributes {
            let (name, role) = (&attribute.name, attribute.role);
            match asked.roles().find(|(asked, _)| *asked == name.as_str()).map(|(_, role)| RoleName::from(role)) {
                Some(asked) if asked == role => {}
                Some(asked) => {
                    let (asked, shown) = (called(asked), shown(role));
                    findings.push(format!("`{name}` is {asked} in the spec, but the release {shown}"));
                }
                None => findings.push(format!("`{name}` is published, but the spec does not name it")),
            }
        }
        // LEAK: a column that the owner wanted rounded or under a pseudonym looks like any other if it is not.
        for attribute in &manifest.attributes {
            let wanted = asked.prepared().find(|(name, _)| *name == attribute.name).map(|(_, steps)| steps);
            if wanted != attribute.prepared {
                let said =
                    |steps: &Option<Vec<String>>| steps.as_ref().map_or("not at all".to_owned(), |it| it.join(", "));
                let (wanted, found) = (said(&wanted), said(&attribute.prepared));
                findings
                    .push(format!("`{}` is prepared {wanted} in the spec, but {found} in the release", attribute.name));
            }
        }
        if findings.len() == known {
            fine.push("every column has the role that the spec gives it".to_owned());
        }
    }
    let ok = findings.is_empty();
    let detail = if ok { fine.join("; ") } else { findings.join("; ") };
    Some(Check { name: "roles", ok, detail, findings })
}

fn called(role: RoleName) -> &'static str {
    match role {
        RoleName::Identifier => "an identifier",
        RoleName::Quasi => "a quasi column",
        RoleName::Sensitive => "sensitive",
        RoleName::Other => "an `other` column",
    }
}

fn shown(role: RoleName) -> &'static str {
    match role {
        RoleName::Identifier => "publishes it as an identifier",
        RoleName::Quasi => "shows it as a quasi column, by which people can be found",
        RoleName::Sensitive => "protects it as the sensitive one",
        RoleName::Other => "keeps it as it is",
    }
}
