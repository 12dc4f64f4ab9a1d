import java.lang.annotation.Annotation;
import java.lang.reflect.Method;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Runs the tests of a class as JUnit does, and prints the name of each that passed. */
final class Run {
    public static void main(String[] arguments) throws Exception {
        var tested = Class.forName(arguments[0]);
        var constructor = tested.getDeclaredConstructor();
        constructor.setAccessible(true);
        call(tested, BeforeAll.class, null);
        try {
            call(tested, Test.class, constructor.newInstance());
        } finally {
            call(tested, AfterAll.class, null);
        }
    }

    private static void call(Class<?> tested, Class<? extends Annotation> kind, Object self) throws Exception {
        for (Method method : tested.getDeclaredMethods()) {
            if (method.isAnnotationPresent(kind)) {
                method.setAccessible(true);
                method.invoke(self);
                System.out.println("passed " + method.getName());
            }
        }
    }
}
